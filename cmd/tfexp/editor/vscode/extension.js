// Starts "tfexp language-server" for HCL files.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const command = vscode.workspace.getConfiguration("tfexp").get("path", "tfexp");
  const selector = ["tfexp", "hcl"].map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("tfexp", "tfexp", { command, args: ["language-server"] }, { documentSelector: selector });
  try {
    await client.start();
  } catch (err) {
    vscode.window.showErrorMessage(`tfexp: ${err.message}. Set tfexp.path to where the program is.`);
  }
};

exports.deactivate = () => client?.stop();
