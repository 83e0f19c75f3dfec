import { EXIT } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { judgeAuthentication } from "../../check/authentication.ts";
import { checkEtcd } from "../../check/etcd.ts";
import { checkNative } from "../../check/native.ts";
import { resolveConfig } from "../../config/config.ts";
import { chooseTransport } from "../../etcd/open/open.ts";
import { buildStoreOptions, createClusterMemory } from "../../etcd/open/store-options.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createMessagePrinter } from "../message-printer.ts";
import type { Call, CommandExecutor, CommandIo } from "../spec.ts";
import { createStoreCommand } from "../store-command.ts";
import { askWithoutUser } from "./ask-without-user.ts";
import { formatFinding, toFindingJson } from "./findings.ts";

export const execute: CommandExecutor = async (call, io) => {
  if (call.flags["forget-cluster"]) forgetCluster(call, io); // before a connection refuses the new one
  return await checkHost(call, io);
};

function forgetCluster(call: Call, io: CommandIo): void {
  const { values } = resolveConfig({ flags: call.settings, env: io.env });
  const paths = createClusterMemory(values).forget();
  const printMessage = createMessagePrinter(call, io);
  for (const path of paths) printMessage(`forgot the cluster in ${path}`);
  if (paths.length === 0) printMessage("this host remembers no cluster for these endpoints and this prefix");
}

const checkHost = createStoreCommand(async ({ flags }, io, context) => {
  const findings: Finding[] = [];
  const addFindings = (more: readonly Finding[]) => {
    findings.push(...more);
    if (!flags.json) for (const finding of more) io.writeOutput(formatFinding(finding, io));
  };
  const native = await checkNative(context.clock);
  const isFit = native.every(({ level }) => level === "ok");
  if (!isFit) addFindings(native); // at once: if etcd is unavailable, this is all there is to report
  const etcd = await checkEtcd(context, context.settings.clusterId, createClusterMemory(context.settings));
  addFindings(isFit ? [...native, ...etcd] : etcd);
  addFindings(
    judgeAuthentication(await askWithoutUser(context, chooseTransport(buildStoreOptions(context.settings)))),
  );
  if (flags.json) io.writeOutput(formatJsonDocument({ findings: findings.map(toFindingJson) }));
  const failed = findings.filter(({ level }) => level === "failure");
  if (failed.length === 0) return EXIT.ok;
  return failed.every(({ kind }) => kind === "permissions") ? EXIT.permission : EXIT.config;
});
