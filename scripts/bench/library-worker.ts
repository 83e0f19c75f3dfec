/** A program with a `Worker` of the library, whose connection has the default transport. Its tasks do nothing. */
import { connect, Worker } from "../../src/library/index.ts";
import { listenForEnd, reportJoined, reportStarted } from "./start-report.ts";

const [endpoint = "", prefix = ""] = process.argv.slice(2);

async function main(): Promise<void> {
  const signalbox = await connect({ endpoints: [endpoint], prefix, connectTimeout: "30s", env: {} });
  const worker = new Worker(signalbox, { handlers: { report: () => {} }, concurrency: 64 });
  worker.on("joined", reportJoined);
  worker.on("started", (event) => reportStarted(event.late));
  await worker.run(listenForEnd());
  await signalbox.close();
}

void main();
