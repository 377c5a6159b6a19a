import gymnasium as gym
from stable_baselines3 import PPO
PPO("MlpPolicy", "CartPole-v1", n_steps=128, batch_size=64, n_epochs=2, verbose=1, device="cpu", seed=0).learn(total_timesteps=512)
