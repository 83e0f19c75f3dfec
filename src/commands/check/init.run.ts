import { EXIT } from "../../base/errors.ts";
import { checkEtcd } from "../../work/check/etcd.ts";
import { json } from "../table.ts";
import { withStore } from "../with-store.ts";
import { findingLines } from "./findings.ts";

export const execute = withStore(async ({ flags }, world, desk) => {
  const findings = await checkEtcd(desk);
  if (flags.json) world.out(json({ findings }));
  else for (const finding of findings) world.out(findingLines(finding, world));
  const failed = findings.find(({ level }) => level === "failure");
  if (failed === undefined) return EXIT.ok;
  return failed.kind === "permissions" ? EXIT.permission : EXIT.config;
});
