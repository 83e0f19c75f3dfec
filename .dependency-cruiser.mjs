import { ROOMS } from "./rooms.config.ts";

/** Folders that use no clock, network, file or process, so that their tests need none. */
const pure = [
  "core/base",
  "core/protocol",
  "core/fleet",
  "schedule",
  "site/state",
  "cli/syntax",
  "cli/views",
];

/** Matches files below src/: a name that ends in / is a whole folder. */
const toPattern = (paths) => `^src/(${paths.map((path) => path.replaceAll(".", "[.]")).join("|")})`;

const listDoors = (room) =>
  Object.values(ROOMS[room].doors)
    .flat()
    .map((door) => `${room}/${door}`);

const rules = Object.entries(ROOMS).flatMap(([room, { may, why, folders = {} }]) => [
  {
    name: `${room}-imports`,
    comment: `${room}/: ${why}`,
    severity: "error",
    from: { path: toPattern([`${room}/`]) },
    to: { path: "^src/", pathNot: toPattern([room, ...may].map((place) => `${place}/`)) },
  },
  {
    name: `${room}-doors`,
    comment: `other rooms import ${room}/ by its doors only; a new door needs a reason in rooms.config.ts`,
    severity: "error",
    from: { path: "^src/", pathNot: toPattern([`${room}/`]) },
    to: { path: toPattern([`${room}/`]), pathNot: toPattern([...listDoors(room), `${room}/ `]) },
  },
  ...Object.entries(folders).map(([folder, { may, why }]) => ({
    name: `${room}-${folder}-imports`,
    comment: `${room}/${folder}/: ${why}`,
    severity: "error",
    from: { path: toPattern([`${room}/${folder}/`]) },
    to: {
      path: toPattern([`${room}/`]),
      pathNot: toPattern([folder, ...may].map((place) => `${room}/${place}/`)),
    },
  })),
]);

export default {
  forbidden: [
    ...rules,
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
      name: "pure-imports",
      comment: "a pure folder imports pure folders only, else its tests would need what those need",
      severity: "error",
      from: { path: toPattern(pure.map((folder) => `${folder}/`)) },
      to: { path: "^src/", pathNot: toPattern(pure.map((folder) => `${folder}/`)) },
    },
    {
      name: "pure-folders",
      comment: "pure folders use no clock, network, file or process, so their tests need none",
      severity: "error",
      from: { path: toPattern(pure.map((folder) => `${folder}/`)) },
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
