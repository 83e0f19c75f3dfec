/** The seed of random inputs that are not in a property of fast-check: the variable SEED, or a new one. */
export const RANDOM_SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

/** For the message of an assertion on such inputs. */
export const SEED_HINT = `repeat it with SEED=${RANDOM_SEED}`;
