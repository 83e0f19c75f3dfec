/** Replaces React's developer tools, which Ink imports but does not load here. */
export default {};
