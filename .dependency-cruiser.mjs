// Which way imports may run between the folders of src/. Each folder lists what it may import, and why no more.
const folders = {
  base: { may: [], why: "errors, ports and ids are the ground floor: they know nobody" },
  config: { may: ["base"], why: "settings are resolved before anything else exists" },
  protocol: { may: ["base"], why: "pure: the rules must be testable without etcd, clock or process" },
  fleet: { may: ["base"], why: "pure: what hosts and groups are does not depend on who asks" },
  syntax: {
    may: ["base"],
    why: "pure: how crontabs, shells and znodes are written does not depend on what they say",
  },
  schedule: { may: ["base"], why: "pure: when something is due does not depend on who fires it" },
  etcd: {
    may: ["base", "config", "protocol"],
    why: "the only folder that speaks etcd; it knows no use case",
  },
  process: { may: ["base"], why: "ending a command must not depend on etcd" },
  work: {
    may: ["base", "config", "protocol", "fleet", "syntax", "schedule", "etcd", "process"],
    why: "use cases decide with the pure folders, then act; they know no command line and no screen",
  },
  model: {
    may: ["base", "protocol", "fleet", "syntax", "schedule"],
    why: "a picture is folded from events, it never acts",
  },
  commands: {
    may: ["base", "config", "protocol", "fleet", "syntax", "schedule", "etcd", "process", "work", "model"],
    why: "a command wires what exists; nothing below may know that it is called from one",
  },
  console: {
    may: ["base", "protocol", "work", "model", "commands"],
    why: "paints what the model decided, and changes things only through commands",
  },
  library: {
    may: ["base", "config", "protocol", "fleet", "syntax", "schedule", "etcd", "process", "work"],
    why: "what programs import: it wires use cases as commands do, and knows no command line",
  },
  compat: {
    may: ["base", "config", "fleet", "syntax", "commands"],
    why: "front ends translate words, variables and crontabs, nothing else",
  },
};
const pure = ["base", "protocol", "fleet", "syntax", "schedule", "model"];

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
      comment: "a cycle means two files that are one, or one thing in the wrong place",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-mutual-folders",
      comment:
        "two folders that import each other are one: what they share belongs below both (see docs/architecture.md)",
      severity: "error",
      scope: "folder",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "pure-folders",
      comment: "pure folders know no clock, network, file or process: their tests need none",
      severity: "error",
      from: { path: `^src/(${pure.join("|")})/` },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "scripts-only",
      comment: "zx is for scripts/ and the tests' fixtures; on the path of `run` it costs more than the run",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "node_modules/zx" },
    },
    {
      name: "src-stands-alone",
      comment: "what is shipped never imports what tests it",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|fixtures|scripts)/" },
    },
    {
      name: "resolvable",
      comment: "an import that resolves to nothing is a typing error",
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
