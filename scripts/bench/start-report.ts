/** A message of a worker to the benchmark. `late`: delays of all starts since the last message, ms. */
export type WorkerMessage =
  | { kind: "joined"; ms: number; rss: number; cpu: number }
  | { kind: "started"; late: number[]; rss: number };

const began = performance.now();
let late: number[] = [];

/** Reports that this worker has joined. From now on, its starts are reported too. */
export function reportJoined(): void {
  const { user, system } = process.cpuUsage();
  sendMessage({
    kind: "joined",
    ms: performance.now() - began,
    rss: readRss(),
    cpu: (user + system) / 1_000,
  });
  setInterval(() => {
    if (late.length > 0) sendMessage({ kind: "started", late, rss: readRss() });
    late = [];
  }, 250).unref();
}

/** @param ms  how late a task has started */
export function reportStarted(ms: number): void {
  late.push(ms);
}

function sendMessage(message: WorkerMessage): void {
  if (process.connected) process.send?.(message); // the benchmark may have ended
}

function readRss(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}

/** @returns a signal that is aborted when the benchmark has ended, or wants this worker to end */
export function listenForEnd(): AbortSignal {
  const stop = new AbortController();
  process.on("disconnect", () => stop.abort(new Error("the parent has exited")));
  return stop.signal;
}
