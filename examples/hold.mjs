// Takes a lock and a lease without a callback, and holds them until release().
import { connect } from "signalbox";

const signalbox = await connect();
const held = await signalbox.acquire({ lock: "leader", leases: ["gpu=1:2"], wait: true });
try {
  held.signal.addEventListener("abort", () => {
    // End everything that relies on the claim. The reason says why it was lost.
    console.error(held.signal.reason.message);
  });
  console.log(`leading with token ${held.token}`);
} finally {
  await held.release();
}
await signalbox.close();
