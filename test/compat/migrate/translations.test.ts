/** Translations of flock, setlock, other lock tools, `etcdctl lock` and `consul lock` to `signalbox run`. */
import { describe, expect, test } from "vitest";
import { createToolContext } from "../../../fixtures/cli/tool-context.ts";
import { splitShellWords } from "../../../fixtures/split-shell-words.ts";
import { runCommand } from "../../../src/cli/commands/run/run.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import { TRANSLATORS } from "../../../src/compat/lock-tools.ts";

function translated(line: string, variables: Record<string, string> = {}) {
  const [tool = "", ...words] = splitShellWords(line);
  const translate = TRANSLATORS[tool as keyof typeof TRANSLATORS];
  return translate(words, createToolContext(variables, {}, tool));
}

/** The line of ours, as text. */
function ours(line: string, variables?: Record<string, string>) {
  const { options, command } = translated(line, variables);
  return [...options, "--", ...command.map((word) => (/ /.test(word) ? `'${word}'` : word))].join(" ");
}

describe.each([
  ["flock /x job a b", "--lock /x --wait -E 1 -- job a b"],
  ["flock -n /x job", "--lock /x -E 1 -- job"],
  ["flock --nb /x job", "--lock /x -E 1 -- job"],
  ["flock --nonblock /x job", "--lock /x -E 1 -- job"],
  ["flock --nonbl /x job", "--lock /x -E 1 -- job"],
  ["flock -x -e --exclusive -n /x job", "--lock /x -E 1 -- job"],
  ["flock -w 10 /x job", "--lock /x --wait=10s -E 1 -- job"],
  ["flock -w10 /x job", "--lock /x --wait=10s -E 1 -- job"],
  ["flock --wait=10 /x job", "--lock /x --wait=10s -E 1 -- job"],
  ["flock --timeout .5 /x job", "--lock /x --wait=500ms -E 1 -- job"],
  ["flock --timeout 1.25 /x job", "--lock /x --wait=1250ms -E 1 -- job"],
  ["flock -w 0 /x job", "--lock /x -E 1 -- job"],
  ["flock -n -w 5 /x job", "--lock /x -E 1 -- job"],
  ["flock -nE 7 /x job", "--lock /x -E 7 -- job"],
  ["flock -n --conflict-exit-code=0 /x job", "--lock /x -E 0 -- job"],
  ["flock -s /x job", "--lock /x --shared --wait -E 1 -- job"],
  ["flock --shared -n /x job", "--lock /x --shared -E 1 -- job"],
  ["flock -x -s -n /x job", "--lock /x --shared -E 1 -- job"],
  ["flock -s -x -n /x job", "--lock /x -E 1 -- job"],
  ["lckdo -s /x job", "--lock /x --shared -E 75 -- job"],
  ["flock -o -F -n /x job", "--lock /x -E 1 -- job"],
  ["flock --close --no-fork -n /x job", "--lock /x -E 1 -- job"],
  ["flock -n /x -c 'a | b'", "--lock /x -E 1 -- /bin/sh -c 'a | b'"],
  ["flock -n /x --command 'a | b'", "--lock /x -E 1 -- /bin/sh -c 'a | b'"],
  ["flock -n -- /x job -n", "--lock /x -E 1 -- job -n"],
  ["flock -n 9 job", "--lock 9 -E 1 -- job"],
  ["setlock /x job", "--lock /x --wait -E 111 -- job"],
  ["setlock -n /x job a", "--lock /x -E 111 -- job a"],
  ["setlock -nx /x job", "--lock /x -E 0 -- job"],
  ["setlock -xX -nN /x job", "--lock /x --wait -E 111 -- job"],
  ["flock -n /run/lock//x job", "--lock /var/lock/x -E 1 -- job"],
  ["flock -n /var/run/./x job", "--lock /run/x -E 1 -- job"],
  ["flock -n /srv/a/releases/20240102030405/x job", "--lock /srv/a/releases/-/x -E 1 -- job"],
  ["lockrun --lockfile=/x -- job a", "--lock /x -E 1 -- job a"],
  ["lockrun -L /x -W -- job", "--lock /x --wait -E 1 -- job"],
  ["lockrun --lockfile /x --wait --sleep=5 --maxtime 60 --verbose -- job", "--lock /x --wait -E 1 -- job"],
  ["lockrun --idempotent -L=/x -- job", "--lock /x -E 0 -- job"],
  ["lockrun --quiet -L=/x -- job", "--lock /x -E 0 -- job"],
  ["lockf /x job a", "--lock /x --wait -E 75 -- job a"],
  ["lockf -kst 0 /x job", "--lock /x -E 75 -- job"],
  ["lockf -k -t 5 /x job -t", "--lock /x --wait=5s -E 75 -- job -t"],
  ["with-lock-ex -w /x job", "--lock /x --wait -E 255 -- job"],
  ["with-lock-ex -f /x job a", "--lock /x -E 255 -- job a"],
  ["with-lock-ex -q /x job", "--lock /x -E 0 -- job"],
  ["lckdo /x job a", "--lock /x -E 75 -- job a"],
  ["lckdo -w -q /x job", "--lock /x --wait -E 75 -- job"],
  ["lckdo -eW 5 /x job", "--lock /x --wait=5s -E 75 -- job"],
  ["dotlockfile /x job a", "--lock /x --wait=75s -E 4 -- job a"],
  ["dotlockfile -l -p -r 0 /x job", "--lock /x -E 4 -- job"],
  ["dotlockfile -r -1 /x job", "--lock /x --wait -E 4 -- job"],
  ["dotlockfile -P -r 3 -i 2 /x job", "--lock /x --wait=6s -E 4 -- job"],
  ["dotlockfile -r 14 /x job", "--lock /x --wait=510s -E 4 -- job"],
  ["chpst -L /x job a", "--lock /x -E 111 -- job a"],
  ["chpst -l /x job", "--lock /x --wait -E 111 -- job"],
  ["chpst -vL/x -u me:you job", "--lock /x -E 111 -- chpst -v -u me:you job"],
  ["chpst -u me -P -L /x -- job -a", "--lock /x -E 111 -- chpst -u me -P job -a"],
  ["solo -port=3801 job a", "--lock solo.3801 -E 98 -- job a"],
  ["solo -port=3801 -silent -timeout=60 job", "--lock solo.3801 -E 0 --timeout 60s -- job"],
  ["solo -sleep=5 -verbose -port=1 -- job", "--lock solo.1 -E 98 --grace 5s -- job"],
  ["sem --fg --id x job a", "--lock sem.x --wait -E 1 -- /bin/sh -c 'job a'"],
  ["sem job", "--lock sem --wait -E 1 -- /bin/sh -c job"],
  ["sem --id=x -j4 'a | b'", "--no-lock --lease sem.x=1:4 -E 1 -- /bin/sh -c 'a | b'"],
  ["sem --id x --st -5 job", "--lock sem.x --wait=5s -E 1 -- /bin/sh -c job"],
  ["parallel --semaphore --id x job", "--lock sem.x --wait -E 1 -- /bin/sh -c job"],
  ["run-one job a", "--lock run-one.job-eed77ba9 -E 1 -- job a"],
  ["etcdctl lock m job", "--lock m --wait -- job"],
  ["etcdctl lock --ttl=60 m job a", "--lock m --wait --ttl 60s -- job a"],
  ["etcdctl lock m --ttl 60 job", "--lock m --wait --ttl 60s -- job"],
  ["etcdctl lock --ttl 1 m job", "--lock m --wait --ttl 14s -- job"],
  ["etcdctl lock m -- job -l", "--lock m --wait -- job -l"],
  ["etcdctl --endpoints=a:1,b:1 lock m job", "--lock m --wait --endpoints a:1,b:1 -- job"],
  [
    "etcdctl --cacert ca --cert c --key k --dial-timeout 5s lock m job",
    "--lock m --wait --cacert ca --cert c --key k --connect-timeout 5s -- job",
  ],
  ["etcdctl --user u:p lock m job", "--lock m --wait --user u -- job"],
  ["etcdctl --user u --password p:q lock m job", "--lock m --wait --user u -- job"],
  ["etcdctl --insecure-skip-tls-verify lock m job", "--lock m --wait --insecure-skip-tls-verify -- job"],
  ["etcdctl --debug -w json lock m job", "--lock m --wait -- job"],
  ["consul lock p job", "--lock p --wait -E 1 -- /bin/sh -c job"],
  ["consul lock /p/q job a b", "--lock p/q --wait -E 1 -- /bin/sh -c 'job a b'"],
  ["consul lock -shell=false p job a -n", "--lock p --wait -E 1 -- job a -n"],
  ["consul lock -timeout=30s p job", "--lock p --wait=30s -E 1 -- /bin/sh -c job"],
  ["consul lock -try 1m30s p job", "--lock p --wait=90s -E 1 -- /bin/sh -c job"],
  ["consul lock -timeout 1.5s p job", "--lock p --wait=1500ms -E 1 -- /bin/sh -c job"],
  ["consul lock -timeout 0 p job", "--lock p --wait -E 1 -- /bin/sh -c job"],
  ["consul lock -n 1 p job", "--lock p --wait -E 1 -- /bin/sh -c job"],
  ["consul lock -n=3 p job", "--no-lock --lease p=1:3 -E 1 -- /bin/sh -c job"],
  [
    "consul lock -n 3 -timeout 2m p job",
    "--no-lock --lease p=1:3 --lease-timeout 120s -E 1 -- /bin/sh -c job",
  ],
  ["consul lock -name nightly p job", "--lock p --wait -E 1 --label nightly -- /bin/sh -c job"],
  [
    "consul lock -child-exit-code -pass-stdin -monitor-retry 5 -verbose -http-addr h:1 -token t p job",
    "--lock p --wait -E 1 -- /bin/sh -c job",
  ],
])("%s", (line, expected) => {
  test("becomes a line that signalbox run takes", () => {
    expect(ours(line)).toBe(expected);
    const { options, command } = translated(line);
    expect(parseCall(runCommand, [...options, "--", ...command]).command).toEqual(command);
  });
});

test.each([
  ["flock -n /x -c 'a b'", "/bin/bash"],
  ["consul lock p a b", "/bin/bash"],
])("%s gives its text to $SHELL", (line, shell) => {
  expect(translated(line, { SHELL: shell }).command).toEqual([shell, "-c", "a b"]);
});

test("a lock's name is the same before and after a release", () => {
  const of = (line: string) => translated(line).options[1];
  expect(of("run-one /srv/a/releases/20240102/bin/mail x")).toBe(
    of("run-one /srv/a/releases/20240103/bin/mail x"),
  );
  expect(of("run-one job a")).not.toBe(of("run-one job b"));
  expect(of("flock -n /a/releases/v1/x job")).toBe(of("lockrun -L /a/releases/v2/x -- job"));
});

test("lines of one file share one lock, whichever tools they use", () => {
  const lines = [
    "flock -n /run/lock/x job",
    "setlock -n /var/lock/x job",
    "lockrun -L /var/lock//x -- job",
    "lockf -t 0 /var/run/lock/x job",
    "with-lock-ex -f /var/lock/./x job",
    "lckdo /var/lock/x job",
    "dotlockfile -r 0 /var/lock/x job",
    "chpst -L /var/lock/x job",
  ];
  for (const line of lines) expect(translated(line).options.slice(0, 2)).toEqual(["--lock", "/var/lock/x"]);
});

test("etcdctl's password goes into a variable, never among the words", () => {
  const user = translated("etcdctl --user u:p:q lock m job");
  expect(user).toMatchObject({ env: { SIGNALBOX_PASSWORD: "p:q" } });
  expect(translated("etcdctl --user u --password p lock m job").env).toEqual({ SIGNALBOX_PASSWORD: "p" });
  expect(translated("etcdctl lock m job").env).toBeUndefined();
});

test.each([
  ["flock -n /x job", /one host.*all hosts.*\$\(hostname\)/],
  ["flock -n --verbose /x job", /--verbose is left out/],
  ["setlock /x job", /one host.*all hosts/],
  ["flock -n x.lock job", /"x.lock" is a different file in each folder, but one lock/],
  ["flock -n /srv/releases/7/x job", /leaves out the release/],
  ["lockrun -L /x -- job", /some versions of lockrun always end with 0/],
  ["lockrun -L /x --maxtime=5 -- job", /--maxtime: left out/],
  ["lockf -n /x job", /no file is needed/],
  ["dotlockfile /x job", /without -P, dotlockfile ends with 0/],
  ["chpst -L /x job", /chpst locks on one host/],
  ["solo -port=1 -sleep=2 job", /-sleep: the command starts at once/],
  ["sem job", /signalbox run waits for it/],
  ["sem job", /one semaphore for all such lines/],
  ["run-one job", /a lock for each user/],
  ["etcdctl lock m job", /differs from etcdctl's/],
  ["etcdctl lock m job", /SIGNALBOX_LOCK_KEY.*ETCD_LOCK_KEY/],
  ["etcdctl --debug lock m job", /--debug: left out/],
  ["consul lock p job", /consul lock always ends with 0/],
  ["consul lock -child-exit-code p job", /instead of 2/],
  ["consul lock -n 2 p job", /units of a resource/],
  ["consul lock -token t p job", /-token: left out/],
])("%s: said is %s", (line, note) => {
  expect(translated(line).notes).toContainEqual(expect.stringMatching(note));
});

test.each([
  ["flock", "no file"],
  ["flock -n", "no file"],
  ["flock /x", "no command"],
  ["flock -n 9", "9 is a file that the shell has opened"],
  ["flock -u /x job", "-u"],
  ["flock -h", "takes no lock"],
  ["flock --version", "takes no lock"],
  ["flock -w x /x job", '"x" is not a number of seconds'],
  ["flock -w -1 /x job", '"-1" is not a number of seconds'],
  ["flock -w", "-w needs a value"],
  ["flock -E 256 /x job", '"256" is not a number from 0 to 255'],
  ["flock -E -1 /x job", '"-1" is not'],
  ["flock -q /x job", 'unknown option "-q"'],
  ["flock --no /x job", 'unknown option "--no"'],
  ["flock --close=1 /x job", "--close takes no value"],
  ["flock /x -c a b", "one argument"],
  ["flock /x -c", "one argument"],
  ["setlock /x", "a file and a command"],
  ["setlock -q /x job", "unknown option"],
  ["lockrun --lockfile=/x job", "-- and a command are needed"],
  ["lockrun -- job", "--lockfile is missing"],
  ["lockrun --what -L /x -- job", 'unknown option "--what"'],
  ["lockf /x", "a file that the shell has opened"],
  ["lockf -q /x job", "unknown option"],
  ["with-lock-ex /x job", "one of -w, -f and -q"],
  ["lckdo -t /x", "takes no lock"],
  ["dotlockfile -l /x", "for other commands; put those commands into a script"],
  ["dotlockfile -u /x", "for other commands"],
  ["dotlockfile -r x /y job", '"x" is not a whole number of retries'],
  ["chpst -u me job", "-l or -L"],
  ["chpst -L /x", "-l or -L, and a program"],
  ["chpst -z -L /x job", 'unknown option "-z"'],
  ["solo job", "-port=PORT is missing"],
  ["solo -noport job", "takes no lock"],
  ["solo -port=1 -what job", 'unknown option "-what"'],
  ["sem --wait", "waits for the commands of other lines"],
  ["sem -j +0 job", '-j "+0" depends on the host'],
  ["sem --st 5 job", "takes the semaphore although another command holds it"],
  ["run-this-one job", /on several hosts would end each other's.*signalbox reset lock/],
  ["keep-one-running job", "job of a service manager"],
  ["run-one-until-success job", "job of a service manager"],
  ["lockfile -r 0 /x", "takes a lock for the commands after it"],
  ["lockfile-create /x", "takes a lock for the commands after it"],
  ["etcdctl get lock", "only etcdctl lock"],
  ["etcdctl lock", "no lock name is given"],
  ["etcdctl lock m", "without a command"],
  ["etcdctl lock m ls -l", 'unknown option "-l"'],
  ["etcdctl --ttl x lock m job", '--ttl "x"'],
  ["etcdctl --discovery-srv d lock m job", "--discovery-srv has no counterpart"],
  ["etcdctl lock --help m job", "takes no lock"],
  ["etcdctl lock m job --cert", "needs a value"],
  ["consul kv get", "only consul lock"],
  ["consul lock p", "a prefix and a command"],
  ["consul lock / job", "a prefix and a command"],
  ["consul lock -n 0 p job", '-n "0"'],
  ["consul lock -n x p job", '-n "x"'],
  ["consul lock -timeout 5 p job", '-timeout "5"'],
  ["consul lock -timeout -5s p job", '-timeout "-5s"'],
  ["consul lock -shell=maybe p job", "neither true nor false"],
  ["consul lock -wat p job", "unknown option"],
])("%s is refused: %s", (line, message) => {
  expect(() => translated(line)).toThrow(message);
});
