import { WaymarkError } from '../../errors/errors.ts'

interface Transport {
  sendMail(mail: Readonly<Record<string, unknown>>): Promise<unknown>
  close(): void
}

/** Sends mail through an SMTP server, `smtp://user:password@host:587`, with the optional package nodemailer. */
export const createMailer = async (url: string, from: string) => {
  const name = 'nodemailer' // not an import that a bundler should look for
  const module = (await import(name).catch((error: unknown) => {
    throw new WaymarkError('wrong-usage', { message: 'Mail needs the package nodemailer: npm install nodemailer.' }, { cause: error })
  })) as { default?: unknown; createTransport?: unknown }
  const { createTransport } = (module.default ?? module) as { createTransport(options: object | string): Transport }
  const transport = createTransport({ url, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 })
  return {
    send: async (mail: {
      readonly to: string
      readonly replyTo?: string
      readonly subject: string
      readonly text: string
      readonly html?: string
      readonly attachments?: readonly { readonly filename: string; readonly contentType: string; readonly content: string }[]
      readonly messageId?: string
    }): Promise<void> => {
      await transport.sendMail({ from, ...mail })
    },
    close: () => transport.close(),
  }
}
