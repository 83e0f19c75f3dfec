// A claim without a callback: held until it is released.
import { connect } from "signalbox";

const signalbox = await connect();
const held = await signalbox.acquire({ lock: "leader", leases: ["gpu=1:2"], wait: true });
try {
  held.signal.addEventListener("abort", () => {
    // Everything that relies on the claim must end now; the reason says why.
    console.error(held.signal.reason.message);
  });
  console.log(`leading with token ${held.token}`);
} finally {
  await held.release();
}
await signalbox.close();
