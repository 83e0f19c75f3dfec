import { chmodSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writeTestFile } from "../../../fixtures/worker/handler-fixture.ts";
import { readWorkerFile } from "../../../src/worker/file/worker-file.ts";
import { parseArgv } from "../../../src/worker/file/worker-schema.ts";

const read = (text: string, environment?: string) =>
  readWorkerFile(writeTestFile("handlers.yaml", text), { environment, credentials: CREDENTIALS });

const CREDENTIALS = "/run/credentials/worker";

function catchFault(text: string, environment?: string) {
  const file = writeTestFile("handlers.yaml", text);
  try {
    readWorkerFile(file, { environment });
  } catch (error) {
    return (error as Error).message.replaceAll(dirname(file), "").replace(/^\//, "");
  }
  throw new Error(`taken: ${text}`);
}

test("everything that can stand in it", () => {
  const module = writeTestFile("module.ts", "export default () => {};\n");
  const { handlers, ...rest } = read(`
handlers:
  - type: mail
    command: send-mail --to 'a b' "c d" e\\ f
    env: { LANG: C }
    timeout: 5m
    retryWait: 30s
  - { type: "/^report/", module: ${module}, export: nightly }
commands: false
concurrency: 8
tags: [blue]
retryWait: 2m
metrics: 9464
users: [ann, build-bot]
secrets:
  db: db.password
  tls: { credential: tls.key, prefix: "" }
hooks:
  failure: https://example.org/{event}
  late: [notify, late]
`);
  expect(handlers).toEqual([
    {
      type: "mail",
      command: ["send-mail", "--to", "a b", "c d", "e f"],
      env: { LANG: "C" },
      timeout: 300_000,
      retryWait: 30_000,
    },
    { type: "/^report/", module, export: "nightly" },
  ]);
  expect(rest).toEqual({
    commands: false,
    concurrency: 8,
    tags: ["blue"],
    retryWait: 120_000,
    metrics: "9464",
    users: ["ann", "build-bot"],
    secrets: {
      db: { file: expect.stringMatching(/^\/.*\/db\.password$/), prefix: "" },
      tls: { file: `${CREDENTIALS}/tls.key`, credential: "tls.key", prefix: "" },
    },
    warnings: [],
    hooks: { failure: "https://example.org/{event}", late: ["notify", "late"] },
  });
});

test("JSON, with tabs, is as good as YAML", () => {
  expect(read('{\n\t"handlers": [\n\t\t{ "type": "a", "command": ["b"] }\n\t]\n}').handlers).toEqual([
    { type: "a", command: ["b"] },
  ]);
});

test.each(["", "# nothing\n", "{}", "handlers: []\n"])(
  "an empty file is one without handlers: %j",
  (text) => {
    expect(read(text)).toMatchObject({ handlers: [], commands: true });
  },
);

test("a file with handlers runs what they are for; commands of schedules only if it says so", () => {
  const handlers = 'handlers: [{ type: a, command: "b" }]\n';
  expect(read(handlers).commands).toBe(false);
  expect(read(`${handlers}commands: true\n`).commands).toBe(true);
  expect(read("concurrency: 8\n").commands).toBe(true);
});

test("a module's path is relative to the file", () => {
  const module = writeTestFile("module.mjs", "");
  const file = join(dirname(module), basename(writeTestFile("handlers.yaml", "")));
  expect(
    readWorkerFile(file, {
      read: () => ({ text: "handlers: [{ type: a, module: ./module.mjs }]", mode: 0o644, uid: 0 }),
    }),
  ).toMatchObject({
    handlers: [{ module }],
  });
});

const KEYED = `
production:
  poll_interval: 1.0
  alive_time: 300
  retry_wait: 60
  handlers: [{ type: a, command: prod }]
staging:
  handlers: [{ type: a, command: stage }]
`;

test("environments at its top, as PerfectSched has them", () => {
  expect(read(KEYED)).toMatchObject({ handlers: [{ command: ["prod"] }], retryWait: 60_000 });
  expect(read(KEYED).warnings.map((line) => line.replace(/^\S+: /, ""))).toEqual([
    "poll_interval has no effect here: workers do not poll, they watch",
    "alive_time has no effect here: workers keep their tasks by themselves; see the setting ttl",
  ]);
  const known = { keysRead: ["alive_time"] };
  expect(readWorkerFile(writeTestFile("handlers.yaml", KEYED), known).warnings).toEqual([
    expect.stringContaining(": poll_interval has no effect here"),
  ]);
  expect(read(KEYED, "staging").handlers).toEqual([{ type: "a", command: ["stage"] }]);
});

test("a credential, without a folder of systemd", () => {
  const file = writeTestFile("handlers.yaml", "secrets: { a: { credential: b } }");
  expect(() => readWorkerFile(file)).toThrow(
    "secrets.a: the worker has no credentials of systemd: add LoadCredential=",
  );
});

test("PerfectSched's own files, with what they share", () => {
  const shared = `
defaults: &defaults { type: rdb_compat, table: jobs, max_acquire: 1 }
production:
  <<: *defaults
  url: mysql://ann:secret@db/jobs
  endpoints: [https://etcd:2379]
  handlers: [{ type: a, command: prod }]
`;
  const { handlers, warnings } = read(shared);
  expect(handlers).toEqual([{ type: "a", command: ["prod"] }]);
  expect(warnings.join("\n")).toMatch("url has no effect here: schedules are in etcd");
  expect(warnings.join("\n")).toMatch("endpoints has no effect here: see the setting");
  expect(warnings.join("\n")).not.toMatch("secret");
});

test.each<[string, string | string | RegExp, string?]>([
  ["handlers: [", /^handlers\.yaml: line 1, column 12: /],
  ["handlers: 5", 'handlers.yaml: line 1, column 1: handlers: "5" is not a list'],
  ["- a", 'handlers.yaml: line 1, column 1: "[\\"a\\"]" is not an object with "handlers"'],
  ["concurency: 5", "handlers.yaml: line 1, column 1: concurency: unknown key; did you mean concurrency?"],
  [
    "\nconcurrency: 0",
    'handlers.yaml: line 2, column 1: concurrency: "0" is not a whole number from 1 to 10000',
  ],
  [
    "handlers:\n- type: a\n  command: b\n  timeout: 5",
    'handlers.yaml: line 4, column 3: handlers[0].timeout: "5" is not a duration such as 30s or 5m',
  ],
  [
    "handlers:\n- type: a",
    "handlers.yaml: line 2, column 3: handlers[0]: it needs exactly one of command, module and http",
  ],
  ["handlers:\n- command: a", "handlers[0]: it has no type"],
  [
    "handlers: [{ type: /(/, command: a }]",
    'line 1, column 14: handlers[0].type: "/(/" is not a regular expression',
  ],
  ["handlers: [{ type: '/^(a+)+$/', command: a }]", '"/^(a+)+$/" can take for ever'],
  [
    "handlers: [{ type: a, command: a | b }]",
    '"a | b" contains "|", which needs a shell; write ["sh", "-c", "..."]',
  ],
  ["handlers: [{ type: a, command: [] }]", "is neither a command line nor a list of words"],
  ["handlers: [{ type: a, module: ./no.ts }]", /"\.\/no\.ts" does not exist: .*\/no\.ts$/],
  [
    "handlers: [{ type: a, command: a, env: { A: 5 } }]",
    '"A" is not a variable with a string; put numbers in quotes',
  ],
  ["handlers: [{ type: a, command: a, export: b }]", "only a module can have an export"],
  ["hooks: { failed: x }", "hooks.failed: unknown key"],
  ["hooks: { failure: 'https://' }", /hooks\.failure: \W?https:.* is not an address: https:/],
  ["commands: yes please", '"yes please" is neither true nor false'],
  ["users: ann", 'users: "ann" is not a list of names'],
  ["users: [1000]", 'users[0]: "1000" is not the name of a user'],
  ["users: ['0']", 'users[0]: "0" is not the name of a user'],
  ["secrets: { a: { file: b, schedules: c } }", 'secrets.a.schedules: "c" is not a list of names'],
  [
    "handlers: [{ type: a, http: { url: http://a, secretHeaders: { b: { file: c, schedules: [d] } } } }]",
    "schedules are for secrets of commands",
  ],
  ["secrets: { a/b: c }", 'secrets: "a/b" is not a name of letters, digits'],
  ["secrets: { a: { file: b, credential: c } }", "secrets.a: it needs exactly one of file and credential"],
  ["secrets: { a: { credential: ../b } }", "secrets.a.credential: it must be a name without a /"],
  ["a: &a [1]\nb: [*a, *a, *c]", "line 2, column 13: there is no anchor &c before this alias"],
  [KEYED, /it has no environment "test"; there are: production, staging$/, "test"],
  ["handlers: []", 'it has no environments at its top level, but "test" was requested', "test"],
])("%j is refused", (text, message, environment) => {
  expect(catchFault(text, environment)).toMatch(message);
});

test("a file that everybody can change is not trusted, and one that is missing is said to be", () => {
  const file = writeTestFile("handlers.yaml", "{}");
  chmodSync(file, 0o666);
  expect(() => readWorkerFile(file)).toThrow("every user can change it; run: chmod o-w");
  expect(() => readWorkerFile("/no/such/file")).toThrow(
    "/no/such/file does not exist; it was named with --handlers",
  );
});

test.each<[string, string[]]>([
  ["a b  c", ["a", "b", "c"]],
  ["a '' \"\"", ["a", "", ""]],
  ["a'b c'd", ["ab cd"]],
  ['"a \\" \\\\ \\n"', ['a " \\ \\n']],
  ["a '$HOME | *'", ["a", "$HOME | *"]],
])("the words of %j", (line, words) => {
  expect(parseArgv(line)).toEqual({ value: words });
});

test.each(["", "  ", "a 'b", "a $HOME", 'a "$HOME"', "a > b", "a *", "~/bin/a", "a `b`"])(
  "%j is no line of words",
  (line) => {
    expect(parseArgv(line)).toHaveProperty("fault");
  },
);
