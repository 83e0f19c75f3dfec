// Leases two of the ten units of "db", which all hosts share. Waits for up to a minute.
import { connect } from "signalbox";

const signalbox = await connect();

await signalbox.withLeases(["db=2:10"], { wait: "1m", label: "vacuum" }, async () => {
  console.log("two units of db are ours");
});
await signalbox.close();
