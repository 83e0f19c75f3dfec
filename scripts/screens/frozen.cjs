// Preloaded into the console. Stops its wall clock, and sets the user name of the scene, so that the screens are
// reproducible. Monotonic time continues.
const os = require("node:os");
const { syncBuiltinESMExports } = require("node:module");

const wall = Number(process.env.SCENE_WALL);
Date.now = () => wall;
const userInfo = os.userInfo;
os.userInfo = (...args) => ({ ...userInfo(...args), username: "ann" });
syncBuiltinESMExports();
