// At most ten units of "db" on all hosts together; this job needs two. Waits a minute for its turn.
import { connect } from "signalbox";

const signalbox = await connect();

await signalbox.withLeases(["db=2:10"], { wait: "1m", label: "vacuum" }, async () => {
  console.log("two units of db are ours");
});
await signalbox.close();
