#!/usr/bin/env bash
# Install what the tests need from the system: a browser to open the pages in, and WordNet.
# On a machine without apt, or without the right to use it, the tests that need them skip and say so.
set -u
missing=()
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || missing+=(chromium)
[ -d /usr/share/wordnet ] || missing+=(wordnet-base)
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=""
[ "$(id -u)" -ne 0 ] && sudo="sudo -n"
if command -v apt-get > /dev/null && $sudo true 2> /dev/null; then
  $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null \
    || echo "Could not install: ${missing[*]}; the tests that need them will skip." >&2
else
  echo "No apt here; install by hand: ${missing[*]}; the tests that need them will skip." >&2
fi
exit 0
