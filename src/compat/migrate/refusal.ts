/** Why a line stays as it is, said for the person whose line it is. */
export class Refusal extends Error {}
