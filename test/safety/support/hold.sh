# The command of a test's runs: says in $JOURNAL, one line a write, when it starts, that it still lives, when it ends.
#   hold.sh BEATS      ends after so many signs of life
#   hold.sh until FILE ends when FILE is there
#   hold.sh stubborn   ignores TERM and never ends
say() {
  read -r up _ </proc/uptime
  echo "$1 $NAME $SIGNALBOX_TOKEN $UNITS $$ $up" >>"$JOURNAL"
}
[ "$1" != stubborn ] || trap '' TERM
beats=0
is_over() {
  case $1 in
    until) [ -e "$2" ] ;;
    stubborn) false ;;
    *) [ "$beats" -ge "$1" ] ;;
  esac
}
say start
until is_over "$@"; do
  sleep 0.02
  say beat
  beats=$((beats + 1))
done
say end
