/** Runs before each test file. With SEED in the environment, all properties of fast-check begin with that seed. */
const { SEED } = process.env;

if (SEED !== undefined) {
  if (!Number.isInteger(Number(SEED))) throw new Error(`SEED must be a whole number; got "${SEED}"`);
  const { default: fc } = await import("fast-check");
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(SEED) });
}
