import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from './pages.ts'
import { readmeFile, withReadmeFigures } from './readme-figures.ts'

for (const [name, text] of Object.entries(pages)) writeFileSync(join(import.meta.dirname, name), text())
writeFileSync(readmeFile, withReadmeFigures(readFileSync(readmeFile, 'utf8')))
