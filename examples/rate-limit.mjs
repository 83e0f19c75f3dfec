// Limits the calls of an API to two at once and ten in a second, over all programs and hosts.
import { connect } from "signalbox";

const signalbox = await connect();

async function callLimited(call) {
  await signalbox.limitRate("api-rate", { max: 10, per: "1s" });
  return await signalbox.withLeases(["api=1:2"], { wait: true }, call);
}

const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => callLimited(async () => index)));
console.log(`${answers.length} calls, the last one returned ${answers.at(-1)}`);
await signalbox.close();
