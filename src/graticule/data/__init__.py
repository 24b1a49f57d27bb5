"""The artefacts between the stages: declared, validated, read and written."""
