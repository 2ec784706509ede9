import { parentPort } from 'node:worker_threads'
import { readTableFile } from '../../engine/storage/files/table-file.ts'
import { type Preparing, preparePart } from '../../events/bulk/prepare-part.ts'
import { ImportFileError } from '../../events/imports/format.ts'
import type { ChosenColumns } from '../../events/imports/formats/mapped.ts'
import { type LinesReader, linesOfBlock, linesReader, type Recipe, type Rows, rowsOfTable } from '../../events/imports/open.ts'
import type { Answered, Asked } from './import-protocol.ts'

// The program of a thread that reads and prepares files. Calls are answered one after the other.

interface OpenFile {
  readonly recipe: Recipe
  readonly lines: LinesReader | null
  /** Of a table. */
  rows: AsyncGenerator<Rows, void, void> | null
  done: number
  chosen: ChosenColumns | null
}

let file: OpenFile | null = null
let turn: Promise<void> = Promise.resolve()

function openFile(recipe: Recipe, done: number): OpenFile {
  const lines = linesReader(recipe)
  return { recipe, lines, rows: null, done, chosen: lines?.chosen ?? null }
}

async function nextRows(of: OpenFile): Promise<Rows | null> {
  const onColumns = (chosen: ChosenColumns) => {
    of.chosen = chosen
  }
  of.rows ??= rowsOfTable(of.recipe, readTableFile, { skip: of.done, onColumns })
  const { value } = await of.rows.next()
  return value ?? null
}

const part = ({ recipe, done, chosen }: OpenFile, rows: Rows | null, preparing: Preparing) => ({
  part: rows && preparePart(rows, recipe, done, preparing),
  chosen,
})

async function answer(asked: Asked): Promise<Pick<Answered, 'part' | 'chosen'>> {
  if (asked.ask === 'open') {
    await file?.rows?.return()
    file = openFile(asked.recipe, asked.done)
    return { part: null, chosen: file.chosen }
  }
  if (!file) throw new TypeError('No file is open')
  const rows = asked.ask === 'block' ? file.lines!.rows(linesOfBlock(asked.bytes), asked.first, file.done) : await nextRows(file)
  return part(file, rows, asked.preparing)
}

async function reply(asked: Asked): Promise<void> {
  try {
    const found = await answer(asked)
    const batch = found.part?.batch
    const moved = batch ? Object.values(batch).filter((value) => ArrayBuffer.isView(value)) : []
    parentPort!.postMessage(
      { id: asked.id, ...found } satisfies Answered,
      moved.map(({ buffer }) => buffer as ArrayBuffer),
    )
  } catch (error) {
    const { message } = error as Error
    parentPort!.postMessage({ id: asked.id, failure: { message, isOfFile: error instanceof ImportFileError } } satisfies Answered)
  }
}

parentPort!.on('message', (asked: Asked) => {
  turn = turn.then(() => reply(asked))
})
