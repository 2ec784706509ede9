import fc from 'fast-check'

// What is drawn is the same in each run, so that a change is refused for what it changed. `npm run test:long -- --fresh` draws anew, and what it finds is
// saved in test/regressions/.

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.WAYMARK_SEED ?? 20) })
