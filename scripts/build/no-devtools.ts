/** In place of React's tools for developers, which Ink names but never loads here. */
export default {};
