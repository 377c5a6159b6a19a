package language

import "github.com/tfexp/tfexp/experiments/schema"

var progressBlock = &schema.Block{
	Name: "progress", Single: true,
	Doc: "How a `command` that does not print the progress lines of the job contract says how far it has come: it " +
		"writes the event files of TensorBoard, as TensorFlow and PyTorch do, below its checkpoint folder " +
		"(`$TFEXP_CHECKPOINT_DIR`, which each job has for itself). While the job runs they are read along with " +
		"its output. A name is that of a scalar, or its run and name, as TensorBoard shows them " +
		"(`train/epoch_loss`). A file that is damaged, or that never comes, is a warning. On a Docker daemon of " +
		"another machine the files cannot be seen.",
	Example: `job "resnet" {
  command = ["sh", "-c", "exec python3 train.py --logdir $TFEXP_CHECKPOINT_DIR/logs"]
  steps   = 64000
  progress {
    tensorboard = "logs"
    loss        = "train/loss"
    accuracy    = "validation/accuracy"
  }
}`,
	Args: []schema.Arg{
		{
			Name: "tensorboard", Type: schema.String, Required: true,
			Doc:     "The folder of the event files, relative to the checkpoint folder; its folders are searched, too.",
			Example: `"logs"`,
		},
		{Name: "loss", Type: schema.String, Doc: "The scalar that is the loss.", Example: `"train/loss"`},
		{
			Name: "accuracy", Type: schema.String, Doc: "The scalar that is the accuracy, as a part of 1.",
			Example: `"validation/accuracy"`,
		},
		{
			Name: "counts", Type: schema.String, Default: `"steps"`, Allowed: []string{"steps", "epochs"},
			Doc: "What the steps of the scalars count as finished. Predictions follow the job by them where its work " +
				"is given in the same unit.",
			Example: `"epochs"`,
		},
	},
}
