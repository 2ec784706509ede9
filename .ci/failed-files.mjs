// Prints the test files in which something failed, from vitest's JSON report. Fails if there is none: the run ended otherwise.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(process.cwd(), name))
if (failed.length === 0) process.exit(1)
console.log(failed.join('\n'))
