from stable_baselines3 import DQN
DQN("MlpPolicy", "CartPole-v1", verbose=1, learning_starts=50, device="cpu", seed=0).learn(total_timesteps=600, log_interval=4)
