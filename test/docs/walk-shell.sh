# What commands of a page run under: a shell as a reader has it, in which `npm start` runs beside it, as
# in a terminal of its own. $work is a folder for what the test looks at.
set -euo pipefail
: >"$work/server.pid"
: >"$work/terminal"

# Waits until a command succeeds, at most three minutes.
wait_for() {
  local left=1800
  until "$@"; do
    ((left--)) || { echo "waited in vain: $*" >&2; return 1; }
    sleep 0.1
  done
}

stop_server() {
  server=$(<"$work/server.pid")
  [ -z "$server" ] && return
  kill -TERM -- "-$server" 2>/dev/null || true
  wait_for group_is_gone
  : >"$work/server.pid"
}

group_is_gone() { ! kill -0 -- "-$server" 2>/dev/null; }
has_ended_or_started() { grep -q ': ready$' "$work/server.log" || ! kill -0 "$server" 2>/dev/null; }
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

npm() {
  case $1 in
    # The packages are those of the clone that is tested.
    ci) ;;
    start)
      stop_server
      : >"$work/server.log"
      setsid "$(type -P npm)" "$@" >"$work/server.log" 2>&1 </dev/null &
      server=$!
      echo "$server" >"$work/server.pid"
      # Not one of the jobs that a page may wait for.
      disown "$server"
      wait_for has_ended_or_started
      grep -q ': ready$' "$work/server.log" || { cat "$work/server.log" >&2; return 1; }
      ;;
    *) command npm "$@" ;;
  esac
}

# Runs commands in the terminal of the server, whose variables no other terminal has.
in_terminal() {
  (
    trap - EXIT
    . "$work/terminal"
    eval "$1"
    export -p >"$work/terminal"
  )
}

# As `npx` finds it: the first time in earnest, and later without its seconds of looking.
npx() {
  [ "$1" = pemba ] || { command npx "$@"; return; }
  if [ -z "${found:-}" ]; then
    found=1
    command npx "$@"
  else
    PATH=$PWD/node_modules/.bin:$PATH node bin/pemba.js "${@:2}"
  fi
}

# Runs what prints until it is stopped, and waits until the server answers it.
stream() {
  mkdir -p "$work/curl"
  : >"$work/head"
  echo "dump-header = \"$work/head\"" >"$work/curl/.curlrc"
  CURL_HOME=$work/curl setsid bash -c "$2" >"$1" 2>&1 </dev/null &
  streams+=($!)
  disown "$!"
  wait_for has_lines "$work/head" 1
}

streams=()
end() {
  local status=$?
  for one in "${streams[@]}"; do kill -TERM -- "-$one" 2>/dev/null || true; done
  stop_server
  exit "$status"
}
trap end EXIT
