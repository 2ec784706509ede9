import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Figures, hasFailures } from './figures.ts'
import { help, readOptions, UsageError } from './options.ts'
import { terminalReport } from './report.ts'
import { runProduct } from './run-product.ts'
import { together } from './together.ts'
import { writePage } from './write-page.ts'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Figures

/** `npm run bench -- product …`; answers the exit code. */
export async function product(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help)
    return 0
  }
  try {
    const options = readOptions(args)
    const figures = options.from.length === 0 ? await runProduct(options, args) : together(options.from.map(read))
    if (options.out !== null) writeFileSync(options.out, `${JSON.stringify(figures, null, 2)}\n`)
    console.log(terminalReport(figures))
    if (options.write) for (const file of writePage(figures, join(import.meta.dirname, '../../docs'))) console.error(`Wrote ${file}`)
    return hasFailures(figures) ? 1 : 0
  } catch (error) {
    console.error((error as Error).message)
    return error instanceof UsageError ? 2 : 1
  }
}
