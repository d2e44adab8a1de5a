label: for (const k in args) { do { break label } while (true) }
return [...Object.keys(args)].length satisfies number