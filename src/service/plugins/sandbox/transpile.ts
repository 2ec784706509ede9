import { transform } from 'sucrase'

/** The beginning of a statement of modules. In a comment it does no harm: the code is then transpiled in vain. */
const usesModules = /\b(?:import|export)[\s{*'"]/

/** JavaScript with `require` and `exports`, from TypeScript or from JavaScript with `import` and `export`. */
export function transpile(name: string, text: string): string {
  const isTypeScript = /\.tsx?$/.test(name)
  if (!isTypeScript && !usesModules.test(text)) return text
  return transform(text, {
    transforms: isTypeScript ? ['typescript', 'imports'] : ['imports'],
    disableESTransforms: true,
    filePath: name,
  }).code
}
