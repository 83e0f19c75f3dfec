/** The alert rules of docs/prometheus, with Debian's Prometheus. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished } from "vitest";
import { parse } from "yaml";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { findFreePorts } from "../../../fixtures/etcd/ports.ts";
import { startPage } from "../../../fixtures/page.ts";
import { findPrometheusProgram } from "../../../fixtures/prometheus.ts";
import { putDueSchedule } from "../../../fixtures/schedule/due-schedules.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const { test } = TestCluster.startForFile();
const RULES = readFileSync(resolve(import.meta.dirname, "../../../docs/prometheus/alerts.yml"), "utf8");
/** With the rule that is commented out. */
const ALL_RULES = RULES.replace(/^ {6}# (?=- alert:| {2})/gm, "      ");
/** A sample each minute, so long that each rule has its time. */
const LONG = 180;

interface AlertCase {
  alert: string;
  labels?: Record<string, string>;
  /** The series with which it fires, and does not, in the notation of promtool. */
  fires: Record<string, string>;
  rests: Record<string, string>;
}

const ALERTS: AlertCase[] = [
  { alert: "SignalboxAway", fires: { signalbox_up: `0x${LONG}` }, rests: { signalbox_up: `1x${LONG}` } },
  {
    alert: "JobHasNotSucceeded",
    labels: { lock: "backup" },
    fires: { 'signalbox_lock_last_success_timestamp_seconds{lock="backup"}': `-90000x${LONG}` },
    rests: { 'signalbox_lock_last_success_timestamp_seconds{lock="backup"}': `0+60x${LONG}` },
  },
  {
    alert: "EtcdFills",
    labels: { collection: "history" },
    fires: { 'signalbox_written_bytes_total{collection="history"}': `0+5000000x${LONG}` },
    rests: { 'signalbox_written_bytes_total{collection="history"}': `0+1000000x${LONG}` },
  },
  {
    alert: "LastRunFailed",
    labels: { lock: "backup" },
    fires: { 'signalbox_lock_last_exit_code{lock="backup"}': `3x${LONG}` },
    rests: { 'signalbox_lock_last_exit_code{lock="backup"}': `0x${LONG}` },
  },
  {
    alert: "LastOccurrenceFailed",
    labels: { schedule: "report" },
    fires: { 'signalbox_schedule_last_end_timestamp_seconds{schedule="report"}': `100x${LONG}` },
    rests: {
      'signalbox_schedule_last_end_timestamp_seconds{schedule="report"}': `100x${LONG}`,
      'signalbox_schedule_last_success_timestamp_seconds{schedule="report"}': `100x${LONG}`,
    },
  },
  {
    alert: "LastOccurrenceFailed",
    labels: { schedule: "report" },
    fires: {
      'signalbox_schedule_last_end_timestamp_seconds{schedule="report"}': `100x${LONG}`,
      'signalbox_schedule_last_success_timestamp_seconds{schedule="report"}': `40x${LONG}`,
    },
    rests: {},
  },
  {
    alert: "SchedulesLate",
    fires: { signalbox_schedule_lateness_seconds: `121x${LONG}` },
    rests: { signalbox_schedule_lateness_seconds: `119x${LONG}` },
  },
  {
    alert: "RunsTakeTooLong",
    labels: { state: "overrun" },
    fires: { 'signalbox_schedules{state="overrun"}': `0x${LONG - 2} 1x2` },
    rests: { 'signalbox_schedules{state="overrun"}': `1x9 0x${LONG}` },
  },
  {
    alert: "NoWorkerForSchedules",
    labels: { state: "no-worker" },
    fires: { 'signalbox_schedules{state="no-worker"}': `1x${LONG}` },
    rests: {
      'signalbox_schedules{state="no-worker"}': `0x${LONG}`,
      'signalbox_schedules{state="late"}': `1x${LONG}`,
    },
  },
  {
    alert: "LongWait",
    labels: { lock: "backup" },
    fires: { 'signalbox_lock_oldest_wait_seconds{lock="backup"}': `3601x${LONG}` },
    rests: { 'signalbox_lock_oldest_wait_seconds{lock="backup"}': `3600x${LONG}` },
  },
  {
    alert: "OccurrencesGivenUp",
    labels: { type: "mail" },
    fires: { 'signalbox_worker_dead_total{type="mail"}': `0+1x${LONG}` },
    rests: { 'signalbox_worker_dead_total{type="mail"}': `7x${LONG}` },
  },
  {
    alert: "WorkerDoesNotTrustItsClock",
    labels: { clock: "refuses" },
    fires: { 'signalbox_workers{clock="refuses"}': `1x${LONG}` },
    rests: {
      'signalbox_workers{clock="refuses"}': `0x${LONG}`,
      'signalbox_workers{clock="ok"}': `3x${LONG}`,
    },
  },
];

/** Builds a case of promtool for series: whether the alert fires after three hours. Annotations are not compared. */
function buildCase({ alert, labels = {} }: AlertCase, series: Record<string, string>, fires: boolean) {
  const query = `count(ALERTS{alertname="${alert}",alertstate="firing"${Object.entries(labels)
    .map(([name, value]) => `,${name}="${value}"`)
    .join("")}})`;
  return {
    interval: "1m",
    input_series: Object.entries({ signalbox_up: `1x${LONG}`, ...series }).map(([name, values]) => ({
      series: name,
      values,
    })),
    promql_expr_test: [
      { expr: query, eval_time: `${LONG - 1}m`, exp_samples: fires ? [{ labels: "{}", value: 1 }] : [] },
    ],
  };
}

test("each rule fires when it should, and only then", async () => {
  const folder = createTestFolder();
  writeFileSync(join(folder, "rules.yml"), ALL_RULES);
  const known = parse(ALL_RULES).groups.flatMap(({ rules }: { rules: { alert: string }[] }) =>
    rules.map(({ alert }) => alert),
  );
  expect([...new Set(ALERTS.map(({ alert }) => alert))].sort()).toEqual(known.sort());
  const tests = ALERTS.flatMap((one) => [buildCase(one, one.fires, true), buildCase(one, one.rests, false)]);
  const file = join(folder, "tests.yml");
  writeFileSync(file, JSON.stringify({ rule_files: ["rules.yml"], evaluation_interval: "1m", tests }));
  const tool = spawn(await findPrometheusProgram("promtool"), ["test", "rules", file]);
  let output = "";
  for (const stream of [tool.stdout, tool.stderr]) stream.on("data", (chunk) => (output += chunk));
  expect(await once(tool, "close"), output).toEqual([0, null]);
  expect(output).toContain("SUCCESS");
});

test("Prometheus loads them, and tells of a job that has failed, and of one that takes too long", async ({
  namespace,
}) => {
  await putDueSchedule(namespace, "long", { command: ["sleep", "600"], expect: "..1s" });
  namespace.start("worker");
  await namespace.execute("run --lock backup -- sh -c 'exit 3'");
  const { host: target } = new URL(await startPage(namespace));
  const folder = createTestFolder();
  writeFileSync(join(folder, "rules.yml"), RULES.replaceAll(/^ *for: .*\n/gm, "")); // they fire at once
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: ["rules.yml"],
    scrape_configs: [{ job_name: "signalbox", static_configs: [{ targets: [target] }] }],
  };
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
  const [port = 0] = await findFreePorts(1);
  const prometheus = spawn(
    await findPrometheusProgram("prometheus"),
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { cwd: folder, stdio: "ignore" },
  );
  onTestFinished(async () => {
    prometheus.kill("SIGKILL");
    if (prometheus.exitCode === null && prometheus.signalCode === null) await once(prometheus, "exit");
  });
  const waitForAlert = (name: string) =>
    waitUntil(`alert ${name}`, async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => undefined);
      const { data } = ((await response?.json().catch(() => undefined)) ?? {}) as {
        data?: { alerts: { labels: Record<string, string>; state: string }[] };
      };
      const found = data?.alerts.filter(({ labels }) => labels.alertname === name) ?? [];
      return found.length > 0 && found;
    });
  expect(await waitForAlert("LastRunFailed")).toMatchObject([
    { state: "firing", labels: { lock: "backup" } },
  ]);
  const overrun = {
    labels: { state: "overrun" },
    annotations: { summary: expect.stringMatching(/^Runs of 1 /) },
  };
  expect(await waitForAlert("RunsTakeTooLong")).toMatchObject([{ state: "firing", ...overrun }]);
  expect(await namespace.execute("ls schedules state:overrun")).toExit(0, { stdout: /^long /m });
});
