#!/bin/sh
# The program `signalbox` of the npm package: starts the launcher for this processor, else Node.
# A link named after a tool behaves like that tool.
case ${0##*/} in
  cronlock | golock | perfectsched | switchman | zoo-locked)
    set -- "${0##*/}" "$@"
    export SIGNALBOX_PROGRAM="$0"
    ;;
esac
path=$(readlink -f -- "$0")
case $(uname -sm) in
  "Linux x86_64") arch=x64 ;;
  "Linux aarch64") arch=arm64 ;;
  *) arch=none ;;
esac
launcher=${path%/*}/native/$arch/launcher
# A shell takes an empty file for a script that does nothing.
if [ -x "$launcher" ] && [ -s "$launcher" ]; then exec "$launcher" "$@"; fi
exec node --disable-sigusr1 "${path%/*}/signalbox.cjs" "$@"
