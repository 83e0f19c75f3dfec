// Type tests: this file must compile (`npm run check`), with the expected errors.
import {
  BusyError,
  ClaimLostError,
  type ConnectOptions,
  connect,
  type Held,
  type JobQueue,
  listCronTimes,
  type Schedule,
  type Task,
  Worker,
} from "../../src/library/index.ts";

export async function callAsAllowed(): Promise<void> {
  const options: ConnectOptions = { endpoints: ["http://127.0.0.1:2379"], ttl: "10s", log: console };
  const signalbox = await connect(options);
  const length: number = await signalbox.withLock("a", async ({ token }) => token.length);
  const text: string = await signalbox.withLeases(["db=1:2"], { wait: 500 }, ({ run }) => run);
  const held: Held = await signalbox.acquire({ lock: "a", leases: ["db=1"], wait: "5s" });
  held.signal.addEventListener("abort", () => held.signal.reason.kind === "gone");
  const schedule: Schedule = await signalbox.schedules.add("a", { cron: "@daily", start: new Date() });
  await signalbox.schedules.modify("a", { delay: null, cron: "@hourly" });
  const task: Task | undefined = await signalbox.schedules.poll();
  await task?.retry("1m");
  const worker = new Worker(signalbox, { handlers: { a: (one) => one.retry(1000) } });
  await worker.run(AbortSignal.timeout(length + text.length));
  const typed = new Worker<{ mail: { to: string }; count: number }>(signalbox, {
    middleware: [async ({ id }, next) => (id === "" ? undefined : await next())],
    handlers: { mail: ({ data }) => data.to.length, count: ({ data }) => data + 1 },
  });
  typed.on("ended", ({ result }) => result satisfies string)();
  typed satisfies AsyncDisposable;
  const mail = await signalbox.schedules.poll<{ to: string }>({ wait: true });
  mail?.data.to satisfies string | undefined;
  const { added } = await signalbox.schedules.sync({ a: { cron: "@daily" } }, { source: "web" });
  const jobs: JobQueue<{ mail: { to: string }; backup: undefined }> = signalbox.jobs;
  await jobs.add("mail", { to: "ann" }, { priority: 5 });
  await jobs.add("backup");
  await signalbox.jobs.add("anything", 1);
  const [first] = listCronTimes("@daily", { timezone: "UTC", from: new Date(), count: added.length });
  const next: Date | undefined = first?.time;
  const later: Date | undefined = schedule.nextTime;
  const error: unknown = next ?? later;
  if (error instanceof BusyError) error.kind satisfies string;
  if (error instanceof ClaimLostError) error.code satisfies "CLAIM_LOST";
  for (const one of [signalbox, held]) one satisfies AsyncDisposable;
}

export async function callAsRefused(): Promise<void> {
  // @ts-expect-error: there is no such option
  const signalbox = await connect({ endpoint: "http://127.0.0.1:2379" });
  // @ts-expect-error: a lock's name is a text
  await signalbox.withLock(1, () => {});
  // @ts-expect-error: leases are a list
  await signalbox.withLeases("db=1", () => {});
  // @ts-expect-error: the work is missing
  await signalbox.withLock("a", { wait: true });
  // @ts-expect-error: a schedule needs a cron text
  await signalbox.schedules.add("a", { timezone: "UTC" });
  // @ts-expect-error: no such policy
  await signalbox.schedules.add("a", { cron: "@daily", overlap: "sometimes" });
  const task = await signalbox.schedules.poll();
  // @ts-expect-error: there may be none
  await task.finish();
  // @ts-expect-error: a handler is a function
  new Worker(signalbox, { handlers: { a: "b" } });
  // @ts-expect-error: the data of this type is a number
  new Worker<{ count: number }>(signalbox, { handlers: { count: ({ data }) => data.length } });
  // @ts-expect-error: no such event
  new Worker(signalbox, { handlers: {} }).on("end", () => {});
  const jobs: JobQueue<{ mail: { to: string } }> = signalbox.jobs;
  // @ts-expect-error: the data of this type is an object with `to`
  await jobs.add("mail", { from: "ann" });
  // @ts-expect-error: this type needs data
  await jobs.add("mail");
  // @ts-expect-error: no such type
  await jobs.add("mial", { to: "ann" });
  const held = await signalbox.acquire({ lock: "a" });
  // @ts-expect-error: the token is what etcd gave
  held.token = "1";
}
