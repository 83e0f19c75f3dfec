// Which way imports may run between the rooms of src/. Each room lists what it may import, and why no more.
const rooms = {
  base: { may: [], why: "errors, ports and ids are the ground floor: they know nobody" },
  config: { may: ["base"], why: "settings are resolved before anything else exists" },
  protocol: { may: ["base"], why: "pure: the rules must be testable without etcd, clock or process" },
  fleet: { may: ["base"], why: "pure: what hosts and groups are does not depend on who asks" },
  schedule: { may: ["base"], why: "pure: when something is due does not depend on who fires it" },
  etcd: { may: ["base", "config", "protocol"], why: "the only room that speaks etcd; it knows no use case" },
  process: { may: ["base"], why: "ending a command must not depend on etcd" },
  work: {
    may: ["base", "config", "protocol", "fleet", "schedule", "etcd", "process"],
    why: "use cases decide with the pure rooms, then act; they know no command line and no screen",
  },
  model: {
    may: ["base", "protocol", "fleet", "schedule"],
    why: "a picture is folded from events, it never acts",
  },
  commands: {
    may: ["base", "config", "protocol", "fleet", "schedule", "etcd", "process", "work", "model"],
    why: "a command wires what exists; nothing below may know that it is called from one",
  },
  console: {
    may: ["base", "protocol", "work", "model", "commands"],
    why: "paints what the model decided, and changes things only through commands",
  },
  library: {
    may: ["base", "config", "protocol", "fleet", "schedule", "etcd", "process", "work"],
    why: "what programs import: it wires use cases as commands do, and knows no command line",
  },
  compat: {
    may: ["base", "config", "fleet", "commands"],
    why: "front ends translate words, variables and crontabs, nothing else",
  },
};
const pure = ["base", "protocol", "fleet", "schedule", "model"];

const flow = Object.entries(rooms).map(([room, { may, why }]) => ({
  name: `${room}-imports`,
  comment: `${room}/: ${why}`,
  severity: "error",
  from: { path: `^src/${room}/` },
  to: { path: "^src/", pathNot: `^src/(${[room, ...may].join("|")})/` },
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
      name: "pure-rooms",
      comment: "pure rooms know no clock, network, file or process: their tests need none",
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
