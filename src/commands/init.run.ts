import { EXIT } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import { checkEtcd, type Finding } from "../work/check/etcd.ts";
import { json } from "./table.ts";
import { withStore } from "./with-store.ts";

const MARKS = { ok: "ok      ", warning: "warning ", failure: "FAILURE " };

export const execute = withStore(async ({ flags }, world, connection) => {
  const findings = await checkEtcd(connection);
  world.out(flags.json ? json({ findings }) : findings.map(line).join(""));
  const failed = findings.find(({ level }) => level === "failure");
  if (failed === undefined) return EXIT.ok;
  return failed.check === "permissions" ? EXIT.permission : EXIT.config;
});

function line({ check, level, detail, remedy }: Finding): string {
  const advice = remedy === undefined ? "" : `\n        ${clean(remedy)}`;
  return `${MARKS[level]}${clean(check)}: ${clean(detail)}${level === "ok" ? "" : advice}\n`;
}
