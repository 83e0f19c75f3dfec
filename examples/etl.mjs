// An ETL program: extracts tables in parallel, on all hosts at most as many at once as the database permits.
import { connect } from "signalbox";

const signalbox = await connect();
const tables = ["customers", "orders", "invoices", "payments"];

async function extract(table, { signal, token }) {
  signal.throwIfAborted(); // pass the signal on to queries and to fetch
  console.log(`${table} extracted, token ${token}`);
  return table.length;
}

// Each table takes one of the two units of `warehouse`, and waits for a free one.
const sizes = await Promise.all(
  tables.map((table) =>
    signalbox.withLeases(["warehouse=1:2"], { wait: true }, (held) => extract(table, held)),
  ),
);
// The load replaces what is there, so only one program does it at a time.
await signalbox.withLock("warehouse-load", { wait: "10m" }, () => {
  console.log(`${sizes.length} tables loaded`);
});
await signalbox.close();
