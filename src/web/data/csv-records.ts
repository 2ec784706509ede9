/** The records of a CSV file, a piece of it at a time: the next is read when the one before was used. */
export async function* csvRecords(
  file: File,
  onBytes: (count: number) => void,
): AsyncGenerator<readonly (readonly string[])[], void, void> {
  const { default: Papa } = await import('papaparse')
  const ready: (readonly (readonly string[])[])[] = []
  let failure: Error | null = null
  let isDone = false
  let goOn = () => {}
  let wake = () => {}
  let isLeft = false
  Papa.parse<string[]>(file, {
    skipEmptyLines: true,
    chunk(results, parser) {
      if (isLeft) return parser.abort()
      onBytes(results.meta.cursor)
      ready.push(results.data)
      parser.pause()
      goOn = () => parser.resume()
      wake()
    },
    error(error) {
      failure = error
      wake()
    },
    complete() {
      isDone = true
      wake()
    },
  })
  try {
    for (;;) {
      const records = ready.shift()
      if (records) {
        yield records
        goOn()
      } else if (failure !== null) throw failure
      else if (isDone) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    isLeft = true
    goOn()
  }
}
