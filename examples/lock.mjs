// Holds a lock while a function runs: one at a time, on all hosts.
import { BusyError, connect } from "signalbox";

const signalbox = await connect();

try {
  const report = await signalbox.withLock("nightly-report", async ({ signal, token }) => {
    // Write the token with the data, so that the store can refuse late writes of an earlier holder.
    const rows = await fetchRows(signal);
    return `${rows} rows, written with token ${token}`;
  });
  console.log(report);
} catch (error) {
  if (!(error instanceof BusyError)) throw error;
  console.log("another run holds the lock:", error.message);
}
await signalbox.close();

async function fetchRows(signal) {
  signal.throwIfAborted(); // pass the signal on to fetch, queries and child processes
  return 3;
}
