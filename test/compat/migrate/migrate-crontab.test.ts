/** Migration of crontabs: changed lines, unchanged bytes, and messages. */
import { describe, expect, test } from "vitest";
import { migrateCrontab } from "../../../src/compat/migrate/crontab.impl.ts";
import type { MigrationOptions } from "../../../src/compat/migrate/migration.ts";

const MANNER: MigrationOptions = { format: "user", plain: false, program: "signalbox", files: new Map() };

function migrated(text: string, manner: Partial<MigrationOptions> = {}) {
  return migrateCrontab(text, { ...MANNER, ...manner });
}

/** One line's command, after. */
function became(command: string, manner?: Partial<MigrationOptions>, before = "") {
  const { text } = migrated(`${before}* * * * * ${command}\n`, manner);
  return text.slice(before.length + "* * * * * ".length, -1);
}

function reasonOf(command: string, manner?: Partial<MigrationOptions>) {
  const text = `* * * * * ${command}\n`;
  const migration = migrated(text, manner);
  expect(migration.text, "a line that cannot be translated stays").toBe(text);
  return migration.lines.find(({ reason }) => reason !== undefined)?.reason;
}

/** What is said of one line. */
const listNotes = (command: string, manner?: Partial<MigrationOptions>) =>
  migrated(`* * * * * ${command}\n`, manner).lines[0]?.notes ?? [];

const PLAIN = { plain: true };
const AROUND = { around: true };

const F = "signalbox run --lock /x -E 1 --";

test("words that zoo-locked ignored are named with their line", () => {
  const migration = migrated("0 1 * * * true\n* * * * * zoo-locked e:2379 /x job a 'b c'\n");
  const [line] = migration.lines.filter(({ notes }) => notes.length > 0);
  expect(line?.line).toBe(2);
  expect(line?.notes).toContainEqual(
    'only "job" is run: zoo-locked ignores the words after the command ("a" "b c"); put the whole command in quotes, or remove them',
  );
});

describe("the tool's words go, everything else stays", () => {
  test.each([
    ["spaces", "flock  -n\t/x   job  a", `${F}   job  a`],
    [
      "quotes and expansions",
      `flock -n /x job "$A" '$B' \${C:-d} *.log ~/x`,
      `${F} job "$A" '$B' \${C:-d} *.log ~/x`,
    ],
    ["substitutions", "flock -n /x job `a b` $(c 'd)' \"e\")", `${F} job \`a b\` $(c 'd)' "e")`],
    ["escapes", "flock -n /x job a\\ b \\$c", `${F} job a\\ b \\$c`],
    ["percent signs", "flock -n /x job +\\%F \\%", `${F} job +\\%F \\%`],
    ["input behind a percent sign", "flock -n /x job%flock -n /y z%w", `${F} job%flock -n /y z%w`],
    ["redirections", "flock -n /x job >>/var/log/x 2>&1 </dev/null", `${F} job >>/var/log/x 2>&1 </dev/null`],
    ["comments", "flock -n /x job # flock -n /y z", `${F} job # flock -n /y z`],
    ["what stands before and after", "cd /a && flock -n /x job || b; c", `cd /a && ${F} job || b; c`],
    ["pipes", "a | flock -n /x job | b", `a | ${F} job | b`],
    ["subshells", "(cd /a; flock -n /x job)", `(cd /a; ${F} job)`],
    ["variables of its own", "A=b C='d e' flock -n /x job", `A=b C='d e' ${F} job`],
    ["conditions", "if flock -n /x job; then a; fi", `if ${F} job; then a; fi`],
    ["negations", "! flock -n /x job", `! ${F} job`],
    ["the background", "flock -n /x job &", `${F} job &`],
    ["several of them", "flock -n /x a && flock -n /y b", `${F} a && signalbox run --lock /y -E 1 -- b`],
    ["a tool by its path", "/usr/bin/flock -n /x job", `${F} job`],
    ["a text for the shell", "flock -n /x -c 'a | b \"$C\"'", `${F} /bin/sh -c 'a | b "$C"'`],
    ["a shell's text", "sh -c 'flock -n /x job \"$A\"'", `sh -c '${F} job "$A"'`],
    [
      "a shell's text in double quotes",
      'su me -c "flock -n /x job" -s /bin/sh',
      `su me -c "${F} job" -s /bin/sh`,
    ],
    [
      "quotes in a shell's quotes",
      "sh -c 'flock -n \"/x y\" job'",
      `sh -c 'signalbox run --lock '\\''/x y'\\'' -E 1 -- job'`,
    ],
    ["what was not typed by us", "flock -n /x job é🚂 --ünï", `${F} job é🚂 --ünï`],
  ])("%s", (_what, before, expected) => {
    expect(became(before)).toBe(expected);
  });

  test.each([
    "nice",
    "nice -n 10",
    "nice -10",
    "nice --adjustment=5",
    "ionice -c 3",
    "ionice -c3 nice -n19",
    "sudo -u me",
    "sudo -n -u me --",
    "env A=b",
    "env -u A C=d",
    "timeout 10",
    "timeout -k 5 1h",
    "/usr/bin/nohup",
    "setsid -w",
    "exec",
    "time -p",
    "taskset 0x3",
    "chrt -i 0",
    "systemd-cat -t x",
    "setuidgid me",
    "runuser -u me --",
  ])("behind %s", (wrapper) => {
    expect(became(`${wrapper} flock -n /x job`)).toBe(`${wrapper} ${F} job`);
  });

  test("a whole crontab: comments, blank lines, variables, line ends", () => {
    const text = [
      "# m h  dom mon dow   command",
      "",
      'MAILTO="ops@example.com"',
      "LOCK = /x  ",
      "  \t*/5 *\t* * 1-5   flock -n $LOCK job   ",
      "@daily\tplain --line",
      "#* * * * * flock -n /x off",
      "not a line of a crontab",
      "-*/5 * * * * flock -n /x quiet",
      "* * * * * last",
    ];
    const expected = text.with(4, `  \t*/5 *\t* * 1-5   ${F} job   `).with(8, `-*/5 * * * * ${F} quiet`);
    expect(migrated(text.join("\n")).text).toBe(expected.join("\n"));
    expect(migrated(`${text.join("\n")}\n\n`).text).toBe(`${expected.join("\n")}\n\n`);
    expect(migrated("").text).toBe("");
  });

  test("the user's column of a system's crontab", () => {
    const { text } = migrated("* * * * *\tflock\t flock -n /x job\n", { format: "system" });
    expect(text).toBe(`* * * * *\tflock\t ${F} job\n`);
  });

  test("what new lines call", () => {
    expect(became("flock -n /x job", { program: "/opt/bin/signalbox" })).toBe(`/opt/bin/${F} job`);
  });
});

describe("what only the shell knows", () => {
  test.each([
    ['flock -n "$HOME/x" job', 'signalbox run --lock "$HOME/x" -E 1 -- job'],
    ["flock -n /run/$USER.lock job", 'signalbox run --lock "/run/$USER.lock" -E 1 -- job'],
    ["flock -n /run/`id -u` job", 'signalbox run --lock "/run/`id -u`" -E 1 -- job'],
    ["flock -n '/a $b' job", "signalbox run --lock '/a $b' -E 1 -- job"],
    ['flock -n "/\\$a-$B" job', 'signalbox run --lock "/\\$a-$B" -E 1 -- job'],
    ["flock -n /run/$(date +\\%F) job", 'signalbox run --lock "/run/$(date +\\%F)" -E 1 -- job'],
    ["flock -n /x -c $CMD", `${F} /bin/sh -c "$CMD"`],
    ["consul lock p $CMD", 'signalbox run --lock p --wait -E 1 -- /bin/sh -c "$CMD"'],
    ['consul lock p job $A "$B"', `signalbox run --lock p --wait -E 1 -- /bin/sh -c "job $A $B"`],
  ])("%s is written as it stood", (before, expected) => {
    expect(became(before)).toBe(expected);
  });

  test("variables that the crontab sets are known", () => {
    expect(became("flock -n $LOCK job $LOCK", {}, "LOCK=/x\n")).toBe(`${F} job $LOCK`);
    expect(became("flock $OPTS /x job", {}, "OPTS=-n -E 0\n")).toBe("signalbox run --lock /x -E 0 -- job");
    expect(became("flock -n /x -c 'a b'", {}, "SHELL=/bin/bash\n")).toBe(`${F} /bin/bash -c 'a b'`);
  });

  test.each([
    ["flock $OPTS /x job", "$OPTS can become any number of words"],
    ["flock -n $LOCK job", "$LOCK can become any number of words"],
    ['flock -w "$SECS" /x job', '-w: "$SECS" is not a number of seconds'],
    ["flock -n /run/*.lock job", "* has a value that only the shell knows"],
    ["flock -n ~/lock job", "~ has a value"],
    ['flock -n /run/`id "-u"` job', 'write `id "-u"` as $(...)'],
    ["cronlock job $(date)", "what cronlock makes of $(date) is known only when the shell runs it"],
    ["cronlock rm /tmp/*.log", "what cronlock makes of /tmp/*.log"],
    ['CRONLOCK_GRACE="$G" cronlock job', "$G"],
  ])("%s stays: %s", (line, reason) => {
    expect(reasonOf(line)).toMatch(reason);
  });

  test("words of a variable that is half the tool's, half the command's", () => {
    const { lines } = migrated("X=/x job\n* * * * * flock -n $X a\n");
    expect(lines[0]?.reason).toMatch("$X contains words of flock and of the command");
  });
});

describe("lines of the front ends' tools", () => {
  test("cronlock: by the variables of the crontab, the line, and its file", () => {
    const own = "CRONLOCK_KEY=k CRONLOCK_GRACE=5 nice cronlock job 'a b'";
    expect(became(own, {}, "CRONLOCK_HOST=e1,e2\n")).toBe(
      "nice signalbox run --lock cronlock.k --endpoints http://e1:2379,http://e2:2379 --connect-timeout 50s --grace 5s" +
        " --max-hold 1d --busy-exit-code 200 -- job 'a b'",
    );
    const files = new Map([["/etc/cronlock.conf", "CRONLOCK_KEY=filed\n"]]);
    expect(became("cronlock job", { files })).toMatch(/^signalbox run --lock cronlock\.filed /);
    expect(became("signalbox cronlock job")).toMatch(
      /^signalbox run --lock cronlock\.[0-9a-f]{32} .*-- job$/,
    );
    expect(became("/opt/signalbox golock job")).toMatch(/^\/opt\/signalbox run --lock cronlock\./);
    expect(became('CRONLOCK_KEY="$(hostname)" cronlock job')).toMatch(
      /^signalbox run --lock "cronlock\.\$\(hostname\)" /,
    );
    expect(became("cronlock job"), "not golock's hash").not.toBe(became("golock job"));
  });

  test("values of a file that the shell, quotes or cron would take otherwise", () => {
    const files = (key: string) => new Map([["/etc/cronlock.conf", `CRONLOCK_KEY='${key}'\n`]]);
    expect(became("cronlock job", { files: files("a$b%c") })).toMatch(/ --lock 'cronlock\.a\$b\\%c' /);
    expect(became('sh -c "cronlock job"', { files: files('a$b"`') })).toMatch(
      /^sh -c "signalbox run --lock 'cronlock\.a\\\$b\\"\\`' .* job"$/,
    );
    expect(reasonOf("cronlock job", { files: files("a\nb") })).toMatch(/line break|control character/);
  });

  test("switchman", () => {
    expect(became("switchman --lockname x -g web --lease db=1:10 -- job -a")).toBe(
      "signalbox run -E 0 --lock x --lease db=1:10 -g web -- job -a",
    );
  });

  const secret = "CRONLOCK_TLS=yes CRONLOCK_HOST=e CRONLOCK_AUTH=me:geheim";
  test("a password is written only where it stood", () => {
    expect(became(`${secret} cronlock job`)).toMatch(/^SIGNALBOX_PASSWORD=geheim signalbox run .*--user me/);
    for (const [line, lines] of [
      [`* * * * * sudo ${secret} cronlock job\n`, ""],
      ["* * * * * cronlock job\n", `${secret.replaceAll(" ", "\n")}\n`],
    ] as const) {
      const { text, lines: reports } = migrated(lines + line);
      expect(text.slice(lines.length)).not.toContain("geheim");
      const notes = reports.flatMap(({ notes }) => notes);
      expect(notes).toContainEqual(expect.stringMatching(/needs SIGNALBOX_PASSWORD.*line of its own/));
      expect(notes.join()).not.toContain("geheim");
    }
  });
});

test.each([
  ["( flock -n 9 || exit 1; job ) 9>/x", "9 is a file that the shell has opened"],
  ["flock -u /x job", "-u releases"],
  ["flock -n 2>/dev/null /x job", "2>/dev/null is between the words of flock"],
  ["flock -n >/dev/null /x job", ">/dev/null is between"],
  ["wrapper flock -n /x job", "whether wrapper starts flock is not known"],
  ["nice A=b flock -n /x job", "whether A=b starts flock"],
  ["$W flock -n /x job", "whether $W starts flock is not known"],
  ["flock -n /x 'job", "a quote (') is not closed"],
  ["flock -n /x $(job", /a bracket .* is not closed/],
  ['sh -c "flock -n \\"/x\\" job"', "quotes inside quotes"],
  ['sh -c "flock -n $X job"', "quotes inside quotes"],
  ["flock -n /x\ue001 job", "private-use"],
  ["cronlock", "no command"],
  ["CRONLOCK_RESET=yes cronlock job", "signalbox reset lock"],
  ["CRONLOCK_DB=x cronlock job", "CRONLOCK_DB"],
])("%s stays as it is: %s", (line, reason) => {
  expect(reasonOf(line)).toMatch(reason);
});

test("lines that cron would not take stay, with cron's reason", () => {
  for (const line of ["* * * flock -n /x\n", "* * * * * flock -n /x job\r\n"]) {
    const { text, lines } = migrated(line);
    expect(text).toBe(line);
    expect(lines[0]?.reason).toMatch(/month|carriage return/);
  }
});

test("a schedule that never comes is told of, and the command translated", () => {
  const { text, lines } = migrated("60 * * * * flock -n /x job\n");
  expect(text).toBe(`60 * * * * ${F} job\n`);
  expect(lines[0]?.notes).toContainEqual(expect.stringContaining("minute"));
});

test.each([
  "echo flock -n /x job",
  "logger -t flock started",
  "pgrep flock",
  "[ -x /usr/bin/flock ] || exit",
  "cat /etc/flock",
  "consul kv get lock",
  "etcdctl get key",
  "job --flock",
  "signalbox run --lock x -- job",
  "signalbox ls",
  "job",
])("nothing is to do about: %s", (line) => {
  expect(migrated(`* * * * * ${line}\n`)).toEqual({ text: `* * * * * ${line}\n`, lines: [] });
});

test("a tool behind signalbox run stays, and is named: a move is under way", () => {
  const text = "* * * * * signalbox run --lock x -- cronlock job\n";
  const { text: same, lines } = migrated(text);
  expect(same).toBe(text);
  expect(lines).toMatchObject([
    { line: 1, tools: ["run"], notes: [expect.stringContaining("starts cronlock, which stays")] },
  ]);
  expect(lines[0]?.reason).toBeUndefined();
  expect(became("flock -n /x cronlock job")).toBe(`${F} cronlock job`);
});

describe("what is left in the background", () => {
  test.each([
    [
      "flock -n /x -c 'job a &'",
      /^job a & continues in the background: flock keeps its lock until that has ended/,
    ],
    ["flock -n /x sh -c 'nohup job & echo started'", /^nohup job & continues/],
    ["flock -n /x bash -lc '(job &)'", /^job & continues/],
    ["flock -n /x sh -c 'a & wait; b &'", /^b & continues/],
    ["flock -n /x setsid job", /^what setsid starts continues/],
    ["setlock -n /x sh -c 'job &'", "setlock keeps its lock"],
    ["chpst -L /x sh -c 'job &'", "chpst keeps its lock"],
    ["run-one sh -c 'job &'", "run-one keeps its lock"],
    ["solo -port=1 sh -c 'job &'", "solo keeps its lock"],
    ["zoo-locked e:2379 /x 'job &'", "zoo-locked keeps its lock"],
  ])("%s stays: the tool's lock covers that, ours does not", (command, reason) => {
    expect(reasonOf(command)).toMatch(reason);
  });

  test.each([
    ["flock -n -o /x sh -c 'job &'"],
    ["cronlock sh -c 'job &'"],
    ["switchman --lockname x -- sh -c 'job &'"],
    ["lockrun -L /x -- sh -c 'job &'"],
    ["with-lock-ex -f /x sh -c 'job &'"],
    ["lckdo /x sh -c 'job &'"],
    ["dotlockfile /x sh -c 'job &'"],
    ["lockf /x sh -c 'job &'"],
    ["etcdctl lock m -- sh -c 'job &'"],
    ["consul lock p 'job &'"],
    ["flock -n /x docker run -d image"],
    ["flock -n /x screen -dmS a job"],
    ["flock -n /x systemd-run job"],
  ])("%s is translated, since neither lock covers that: it is said", (command) => {
    expect(became(command)).toContain("signalbox run");
    expect(listNotes(command).join()).toMatch(
      "continues when the command has ended, and the lock does not cover it",
    );
  });

  test.each([
    "flock -n /x sh -c 'a & b & wait'",
    "flock -n /x sh -c 'a && b'",
    "flock -n /x nohup job",
    "flock -n /x setsid -w job",
    "flock -n /x job &",
    "flock -n /x job 2>&1",
    "flock -n /x docker run --rm image",
    "flock -n /x systemd-run --wait job",
  ])("%s leaves nothing", (command) => {
    expect(listNotes(command)).toHaveLength(1);
  });
});

describe("tools that are not known", () => {
  test.each([
    "withlock /run/x /opt/job.sh",
    "nice /usr/local/bin/runlock -b /run/x job",
    "bash -lc 'cd /srv && my-lock job a'",
    "ssh web1 'mutex name job'",
  ])("%s: named as one, with --plain too", (command) => {
    const reason = /looks like an unknown tool that takes a lock/;
    expect(reasonOf(command)).toMatch(reason);
    expect(reasonOf(command, PLAIN)).toMatch(reason);
  });

  test.each([
    "/opt/block.sh a b",
    "clock a b",
    "unlock-users now",
    "lock.sh",
    "db-lock /run/x.lock",
    "echo lock a b",
  ])("%s does not look like one", (command) => {
    expect(migrated(`* * * * * ${command}\n`).lines).toEqual([]);
  });

  test("what another place runs is not for this host's signalbox", () => {
    expect(reasonOf("docker exec app sh -c 'flock -n /x job'")).toMatch("docker starts the tool elsewhere");
    expect(reasonOf("docker compose exec -T app flock -n /x job")).toMatch("whether docker starts flock");
  });
});

test.each([
  ["cronitor exec abc123 flock -n /x job", `cronitor exec abc123 ${F} job`],
  ["cronitor exec -e prod abc123 flock -n /x job", `cronitor exec -e prod abc123 ${F} job`],
  ["cronitor exec abc123 'flock -n /x job | b'", `cronitor exec abc123 '${F} job | b'`],
  ["runitor -slug nightly -- flock -n /x job", `runitor -slug nightly -- ${F} job`],
  ["sentry-cli monitors run nightly -- flock -n /x job", `sentry-cli monitors run nightly -- ${F} job`],
])("monitors are looked through: %s", (before, after) => {
  expect(became(before)).toBe(after);
});

describe("plain lines, on request", () => {
  test("lines with seconds and years, or with a user, stay", () => {
    expect(reasonOf("* * echo x", PLAIN)).toMatch("7 fields");
    expect(reasonOf("root echo x", PLAIN)).toMatch('command is "root"');
  });

  const plain = (command: string, before = "") => became(command, PLAIN, before);
  test.each([
    ["a command", "/usr/bin/job -a >x 2>&1", "signalbox run --lock job -- /usr/bin/job -a >x 2>&1"],
    ["behind cd", 'cd /srv && ./job "$A"', 'cd /srv && signalbox run --lock job -- ./job "$A"'],
    ["with variables", "A=b ./job", "A=b signalbox run --lock job -- ./job"],
    ["with wrappers", "nice -n 5 ./job", "signalbox run --lock job -- nice -n 5 ./job"],
    [
      "a script",
      "/usr/bin/php -q /srv/artisan run",
      "signalbox run --lock artisan -- /usr/bin/php -q /srv/artisan run",
    ],
    ["with input", "job%a%b", "signalbox run --lock job -- job%a%b"],
    ["with percent signs", "job +\\%F", "signalbox run --lock job -- job +\\%F"],
    ["a pipe", "a 'x y' | b \\%", "signalbox run --lock a -- /bin/sh -c 'a '\\''x y'\\'' | b \\%'"],
    ["a condition", "test -x /a/b && b -q", "signalbox run --lock b -- /bin/sh -c 'test -x /a/b && b -q'"],
    ["a builtin of the shell", "exec job", "signalbox run --lock job -- /bin/sh -c 'exec job'"],
    ["a file for the shell", ". /a/env && job", "signalbox run --lock job -- /bin/sh -c '. /a/env && job'"],
    ["a negation", "! job", "signalbox run --lock job -- /bin/sh -c '! job'"],
    ["an output before the command", ">x job", "signalbox run --lock job -- /bin/sh -c '>x job'"],
    ["a name to be quoted", '"/a/b c" d', "signalbox run --lock 'b c' -- \"/a/b c\" d"],
  ])("%s", (_what, before, expected) => {
    expect(plain(before)).toBe(expected);
  });

  test("in the crontab's shell", () => {
    expect(plain("a; b", "SHELL=/bin/bash\n")).toBe("signalbox run --lock a -- /bin/bash -c 'a; b'");
  });

  test("one command, one lock; commands that are only called alike, one each", () => {
    const { text } = migrated(
      "1 * * * * /a/job\n2 * * * * /b/job\n3 * * * * /a/job\n4 * * * * $JOB\n",
      PLAIN,
    );
    const names = [...text.matchAll(/--lock (\S+)/g)].map(([, name]) => name);
    expect(names[0]).toMatch(/^job-[0-9a-f]{8}$/);
    expect(names[1]).toMatch(/^job-[0-9a-f]{8}$/);
    expect(names[1]).not.toBe(names[0]);
    expect(names[2]).toBe(names[0]);
    expect(names[3]).toMatch(/^cron-[0-9a-f]{8}$/);
  });

  test("a lock without a grace is told", () => {
    expect(listNotes("job", PLAIN)).toEqual([expect.stringMatching(/its lock taken skip it;.*--grace 50s/)]);
  });

  test.each([
    ["cronitor exec abc /opt/job.sh a", "job.sh"],
    ["curl -fsS https://hc-ping.com/1/start; /opt/job.sh; curl -fsS https://hc-ping.com/1", "job.sh"],
    ["runitor -slug x -- /opt/job.sh", "job.sh"],
    ["bash -lc '/opt/job.sh --all'", "job.sh"],
    ["/bin/bash -l -c 'cd /srv/app/current && bundle exec rake mail'", "bundle"],
    ["su -c '/opt/job.sh' app", "job.sh"],
    ["su - app -c 'cd /x && ./job.sh'", "job.sh"],
    ["sudo -u app sh -c 'A=b nice ./job.sh | tee x'", "job.sh"],
    ["docker compose exec -T app php artisan schedule:run", "artisan"],
    ["docker exec -u me app /opt/job.sh", "job.sh"],
    ["docker-compose -f x.yml run --rm app ./job.sh", "job.sh"],
    ["kubectl exec -n a pod -- /opt/job.sh", "job.sh"],
    ["{ cd /x; ./job.sh; }", "job.sh"],
    ["( ./job.sh )", "job.sh"],
    ["java -jar /opt/job-1.2.3.jar", "job.jar"],
    ["curl -fsS https://hc-ping.com/1", "ping"],
  ])("%s has the lock %s", (command, name) => {
    expect(plain(command)).toMatch(new RegExp(`^signalbox run --lock ${name} -- `));
  });

  test("names do not depend on the release", () => {
    const names = (release: string) =>
      [
        ...migrated(
          ["a", "b"].map((arg) => `1 * * * * cd /srv/x/releases/${release} && ./job ${arg}\n`).join("") +
            `2 * * * * $JOB /srv/x/releases/${release}/y\n`,
          PLAIN,
        ).text.matchAll(/--lock (\S+)/g),
      ].map(([, name]) => name);
    expect(names("20240102030405")).toEqual(names("20240203040506"));
    expect(new Set(names("20240102030405")).size).toBe(3);
  });

  test("lines that look after the host stay without a lock", () => {
    for (const command of ["cd / && run-parts /etc/cron.daily", "logrotate /etc/logrotate.conf"]) {
      expect(plain(command)).toBe(command);
      expect(listNotes(command, PLAIN)).toEqual([
        expect.stringMatching(/maintain the host itself .*stays without a lock/),
      ]);
    }
  });

  test("what looks for itself is not said to have had no lock", () => {
    expect(listNotes("pgrep -x job || job", PLAIN)[0]).toMatch(/^its use of pgrep stays/);
    expect(listNotes("[ -e /run/b.pid ] || b", PLAIN)[0]).toMatch(/^its use of \/run\/b.pid stays/);
  });

  test("what cannot have a lock stays", () => {
    for (const command of ["sh -c 'job &'", "setsid job", "job &"])
      expect(reasonOf(command, PLAIN)).toMatch("background");
    expect(reasonOf("job 'x", PLAIN)).toMatch("not closed");
    const boot = migrated("@reboot job\n", PLAIN);
    expect(boot.text).toBe("@reboot job\n");
    expect(boot.lines[0]?.notes[0]).toMatch("boot");
    expect(plain("signalbox ls")).toBe("signalbox ls");
    expect(plain("# nothing")).toBe("# nothing");
  });
});

test.each([
  ['cd /a && nice flock -n /x job "$A" >o || b', `cd /a && nice ${F} flock -n /x job "$A" >o || b`],
  [
    "A=b CRONLOCK_KEY=k cronlock job",
    "A=b CRONLOCK_KEY=k signalbox run --lock cronlock.k CODES -- cronlock job",
  ],
  [
    "sh -c 'flock -n \"/x y\" job'",
    `sh -c 'signalbox run --lock '\\''/x y'\\'' -E 1 -- flock -n "/x y" job'`,
  ],
  ["flock -n 2>/dev/null /x job", `${F} flock -n 2>/dev/null /x job`],
])("with --around, the tool stays within: %s", (before, expected) => {
  const found = became(before, AROUND);
  expect(found.replace(/--connect-timeout .* --busy-exit-code 200/, "CODES")).toBe(expected);
  expect(became(found, AROUND), "once is enough").toBe(found);
  expect(became(found)).toBe(found);
});

test("with --around, the tool must not be signalbox", () => {
  expect(reasonOf("signalbox cronlock job", AROUND)).toMatch("already takes the lock of signalbox run");
  const told = expect.stringContaining("cronlock must be the old program");
  expect(listNotes("cronlock job", AROUND)).toContainEqual(told);
  expect(listNotes("flock -n /x job", AROUND)).toHaveLength(1);
});

describe("where the tools' servers are", () => {
  const variables =
    "CRONLOCK_HOST=redis1\nCRONLOCK_AUTH=me:geheim\nCRONLOCK_TLS=yes\nCRONLOCK_TLS_SKIP_VERIFY=yes\n";
  test("is used as etcd's, and said", () => {
    const { lines } = migrated(`${variables}* * * * * cronlock job\n`);
    expect(lines[0]?.after).toMatch(
      /--endpoints https:\/\/redis1:2379 .*--insecure-skip-tls-verify .*--user me/,
    );
    expect(lines[0]?.notes).toContainEqual(
      expect.stringMatching(/redis1:2379 is used as etcd's address.*--no-connection/),
    );
  });

  test("is left out with --no-connection", () => {
    const { lines } = migrated(`${variables}* * * * * cronlock job\n`, { noConnection: true });
    expect(lines[0]?.after).toMatch(/signalbox run --lock cronlock\.\w+ --connect-timeout 50s .*-- job$/);
    expect(lines[0]?.after).not.toMatch(/redis1|--user|skip/);
    expect(lines[0]?.notes.join()).not.toMatch(/taken for|SIGNALBOX_PASSWORD/);
    const files = new Map([
      ["/etc/cronlock.conf", "CRONLOCK_KEY=k\nexport CRONLOCK_HOST=redis1\nCRONLOCK_PORT=6379\n"],
    ]);
    expect(became("CRONLOCK_PORT=6379 cronlock job", { noConnection: true, files })).toMatch(
      /^signalbox run --lock cronlock\.k --connect-timeout \S+ --grace 40s --max-hold 1d --busy-exit-code 200 -- job$/,
    );
    const etcdctl = "etcdctl --endpoints a:1 --user u:p --cacert c lock m job";
    expect(became(etcdctl, { noConnection: true })).toBe("signalbox run --lock m --wait -- job");
  });
});

test("what it makes comes out unchanged", () => {
  const lines = [
    "LOCK=/x",
    "CRONLOCK_HOST=e1",
    '* * * * * nice flock -n $LOCK job "$(date +\\%F)" | b',
    "* * * * * sh -c 'flock -n \"/x y\" job'",
    "* * * * * cronlock job",
    "* * * * * switchman -- job",
    "* * * * * etcdctl lock m job",
    "* * * * * consul lock -n 2 p job",
    "* * * * * setlock -n /x job",
    "* * * * * flock -s /x stays",
    "* * * * * plain | line",
    "* * * * * plain",
    "@reboot boot",
  ];
  const text = `${lines.join("\n")}\n`;
  for (const plain of [false, true]) {
    const once = migrated(text, { plain });
    expect(once.text).not.toBe(text);
    const twice = migrated(once.text, { plain });
    expect(twice.text).toBe(once.text);
    expect(twice.lines.filter(({ before, after }) => before !== after)).toEqual([]);
  }
});
