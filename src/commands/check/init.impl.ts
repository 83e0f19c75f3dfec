import { EXIT } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { chooseTransport } from "../../etcd/open/open.ts";
import { buildStoreOptions } from "../../etcd/open/store-options.ts";
import { judgeAuthentication } from "../../work/check/authentication.ts";
import { checkEtcd } from "../../work/check/etcd.ts";
import { checkNative } from "../../work/check/native.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createStoreCommand } from "../store-command.ts";
import { askWithoutUser } from "./ask-without-user.ts";
import { formatFinding, toFindingJson } from "./findings.ts";

export const execute = createStoreCommand(async ({ flags }, io, context) => {
  const findings: Finding[] = [];
  const addFindings = (more: readonly Finding[]) => {
    findings.push(...more);
    if (!flags.json) for (const finding of more) io.writeOutput(formatFinding(finding, io));
  };
  const native = await checkNative(context.clock);
  const isFit = native.every(({ level }) => level === "ok");
  if (!isFit) addFindings(native); // at once: if etcd is unavailable, this is all there is to report
  const etcd = await checkEtcd(context, context.settings.clusterId);
  addFindings(isFit ? [...native, ...etcd] : etcd);
  addFindings(
    judgeAuthentication(await askWithoutUser(context, chooseTransport(buildStoreOptions(context.settings)))),
  );
  if (flags.json) io.writeOutput(formatJsonDocument({ findings: findings.map(toFindingJson) }));
  const failed = findings.filter(({ level }) => level === "failure");
  if (failed.length === 0) return EXIT.ok;
  return failed.every(({ kind }) => kind === "permissions") ? EXIT.permission : EXIT.config;
});
