"""Pretrained models: loading, features, predictions, zero-shot, label spaces, probes."""
