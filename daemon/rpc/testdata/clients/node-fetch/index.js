// In place of the package, which the client named aria2 loads and does not use where fetch is there anyway.
module.exports = globalThis.fetch;
