// Allowed imports between the folders of src/. Each folder lists the folders that it may import, and the reason.
const folders = {
  base: { may: [], why: "errors, ports and ids are used everywhere, so they import no other folder" },
  config: { may: ["base"], why: "settings are resolved before anything else is created" },
  protocol: { may: ["base"], why: "pure: the rules can be tested without etcd, clock or process" },
  fleet: { may: ["base"], why: "pure: hosts and groups do not depend on the code that uses them" },
  syntax: {
    may: ["base"],
    why: "pure: the syntax of crontabs, shells and znodes does not depend on their meaning",
  },
  schedule: {
    may: ["base", "fleet"],
    why: "pure: due times do not depend on the worker that starts the occurrence; a definition can have conditions on hosts",
  },
  state: {
    may: ["base", "protocol", "fleet", "syntax", "schedule"],
    why: "builds a snapshot from keys and events, and computes what it means; it has no side effects",
  },
  etcd: {
    may: ["base", "config", "protocol"],
    why: "the only folder with an etcd client; it does not depend on use cases",
  },
  process: { may: ["base"], why: "a command must be ended even if etcd is unreachable" },
  observe: {
    may: ["base", "protocol", "schedule", "etcd"],
    why: "reads and follows etcd; whoever decides on what it reads is above it",
  },
  output: {
    may: ["base", "config", "protocol", "etcd", "process", "observe"],
    why: "keeps and shows the output of runs; it does not start them",
  },
  check: {
    may: ["base", "config", "protocol", "schedule", "state", "etcd", "process", "observe", "output"],
    why: "examines etcd and this host, and changes neither",
  },
  run: {
    may: ["base", "protocol", "fleet", "etcd", "process", "observe"],
    why: "a claim decides with the pure folders, then acts; it does not depend on a command line or a screen",
  },
  operate: {
    may: ["base", "protocol", "fleet", "schedule", "etcd", "observe"],
    why: "actions of operators change keys; runs and workers act on what they read there",
  },
  worker: {
    may: [
      "base",
      "config",
      "protocol",
      "fleet",
      "schedule",
      "etcd",
      "process",
      "observe",
      "output",
      "check",
      "run",
      "operate",
    ],
    why: "starts occurrences with the code below it; it does not depend on a command line or a screen",
  },
  views: {
    may: ["base", "protocol", "fleet", "syntax", "schedule", "state"],
    why: "rows, columns, colours, JSON and details as data: commands and the console show the same",
  },
  commands: {
    may: [
      "base",
      "config",
      "protocol",
      "fleet",
      "syntax",
      "schedule",
      "etcd",
      "process",
      "observe",
      "output",
      "check",
      "run",
      "operate",
      "worker",
      "state",
      "views",
    ],
    why: "a command connects the parts below it; these do not depend on commands",
  },
  console: {
    may: ["base", "protocol", "observe", "operate", "state", "views", "commands"],
    why: "renders the model, and changes things only through commands",
  },
  library: {
    may: [
      "base",
      "config",
      "protocol",
      "fleet",
      "schedule",
      "etcd",
      "process",
      "observe",
      "check",
      "run",
      "operate",
      "worker",
    ],
    why: "the API for programs: it connects use cases as commands do, without a command line",
  },
  compat: {
    may: ["base", "config", "fleet", "syntax", "commands"],
    why: "front ends only translate arguments, variables and crontabs",
  },
  agent: {
    may: [
      "base",
      "config",
      "protocol",
      "fleet",
      "etcd",
      "process",
      "output",
      "check",
      "run",
      "worker",
      "commands",
      "compat",
    ],
    why: "serves the calls of launchers with the commands and front ends that they name",
  },
};
const pure = ["base", "protocol", "fleet", "syntax", "schedule", "state", "views"];

const flow = Object.entries(folders).map(([folder, { may, why }]) => ({
  name: `${folder}-imports`,
  comment: `${folder}/: ${why}`,
  severity: "error",
  from: { path: `^src/${folder}/` },
  to: { path: "^src/", pathNot: `^src/(${[folder, ...may].join("|")})/` },
}));

export default {
  forbidden: [
    ...flow,
    {
      name: "no-cycles",
      comment: "files in a cycle belong together, or some of their code belongs into another file",
      severity: "error",
      from: {},
      // A command's declaration loads its implementation when it is used, and that takes the types of its flags from it.
      to: { circular: true, viaOnly: { dependencyTypesNot: ["dynamic-import"] } },
    },
    {
      name: "no-mutual-folders",
      comment: "code that two folders share belongs into a folder below both (see docs/architecture.md)",
      severity: "error",
      scope: "folder",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "pure-folders",
      comment: "pure folders use no clock, network, file or process, so their tests need none",
      severity: "error",
      from: { path: `^src/(${pure.join("|")})/` },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "scripts-only",
      comment: "zx is only for scripts/ and fixtures/: loading it takes longer than a run",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "node_modules/zx" },
    },
    {
      name: "src-stands-alone",
      comment: "released code never imports tests, fixtures or scripts",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|fixtures|scripts)/" },
    },
    {
      name: "resolvable",
      comment: "an import that cannot be resolved is a typo",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: "swc",
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      extensions: [".ts", ".tsx", ".js", ".mjs"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
    },
  },
};
