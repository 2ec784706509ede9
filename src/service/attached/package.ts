import { WaymarkError } from '../../errors/errors.ts'

/** A package that only those install who attach what it reads. Not an import that a bundler should look for. */
export async function loadPackage<T>(name: string): Promise<T> {
  return (await import(name).catch((cause: unknown) => {
    const message = `What is attached needs the package ${name}. Install it beside Waymark: npm install ${name}`
    throw new WaymarkError('wrong-usage', { message }, { cause })
  })) as T
}
