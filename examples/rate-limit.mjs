// Limits the calls of an API to two at once and ten in a second, over all programs and hosts.
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "signalbox";

const signalbox = await connect();

/** Runs a call. Its unit of `api-rate` is kept for a second, so at most ten calls begin in a second. */
async function callLimited(call) {
  const rate = await signalbox.acquire({ leases: ["api-rate=1:10"], wait: true });
  sleep(1_000).then(() => rate.release());
  return await signalbox.withLeases(["api=1:2"], { wait: true }, call);
}

const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => callLimited(async () => index)));
console.log(`${answers.length} calls, the last one returned ${answers.at(-1)}`);
await signalbox.close();
