#!/bin/sh
# Appends its token to $OUT again and again: itself, a child in a session of its own, and an orphan that ignores signals.
# With $BEAT set to deaf, all of them ignore signals.
[ "$1" = deaf ] && trap '' TERM INT HUP
if [ "$1" ]; then
  while :; do echo "$SIGNALBOX_TOKEN" >>"$OUT"; sleep 0.1; done
fi
[ "$BEAT" = deaf ] && trap '' TERM INT HUP
setsid "$0" away &
(setsid sh -c '"$0" deaf & exec sleep 0.01' "$0" &)
echo up
exec "$0" here
