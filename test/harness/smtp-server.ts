import { createServer } from 'node:net'

export interface ReceivedMail {
  readonly to: readonly string[]
  /** As it came, with its headers. */
  readonly text: string
}

export interface SmtpServer {
  readonly url: string
  /** Every line that came. */
  readonly lines: string[]
  readonly mails: ReceivedMail[]
  /** The answer to the end of a mail: `250 ok`, `451 later`, `550 no`; `close`: the connection ends. */
  answer: (mail: ReceivedMail) => string
  close(): Promise<void>
}

/** As much of a mail server as a client needs. */
export async function startSmtp(): Promise<SmtpServer> {
  const server = createServer((socket) => {
    let isData = false
    let rest = ''
    let to: string[] = []
    let text: string[] = []
    socket.on('error', () => undefined)
    socket.write('220 test\r\n')
    const end = () => {
      const mail = { to, text: text.join('\n') }
      ;[to, text] = [[], []]
      const answer = smtp.answer(mail)
      if (answer === 'close') return socket.destroy()
      if (answer.startsWith('2')) smtp.mails.push(mail)
      return socket.write(`${answer}\r\n`)
    }
    socket.on('data', (chunk) => {
      rest += chunk.toString()
      for (let at = rest.indexOf('\r\n'); at >= 0; at = rest.indexOf('\r\n')) {
        const line = rest.slice(0, at)
        rest = rest.slice(at + 2)
        smtp.lines.push(line)
        if (isData && line !== '.') text.push(line)
        else if (isData) {
          isData = false
          end()
        } else if (line === 'DATA') {
          isData = true
          socket.write('354 go on\r\n')
        } else {
          const found = /^RCPT TO:<(.*)>/.exec(line)
          if (found) to.push(found[1]!)
          socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
        }
      }
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as { port: number }
  const smtp: SmtpServer = {
    url: `smtp://127.0.0.1:${port}`,
    lines: [],
    mails: [],
    answer: () => '250 ok',
    close: () => new Promise((done) => server.close(() => done())),
  }
  return smtp
}
